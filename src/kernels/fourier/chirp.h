// The discrete Fourier transforms of every backend are made of these parts: roots of one, the small factors of a length
// and the chirp. Numbers are convolved with the chirp (Bluestein) if their length has a large prime in it.
#pragma once

#include <cstdint>
#include <vector>

#include "torchtrt/export.h"

namespace torchtrt::kernels::fourier {

inline constexpr int64_t kMostRadix = 31;  // of a stage
inline constexpr int64_t kMostLength = int64_t{1} << 24;

// Appends exp(-2 pi i k / n), exact to the last bit or two of T, as real and imaginary part.
template <typename T>
void addRoot(int64_t k, int64_t n, std::vector<T>& pairs);

// The radixes of the stages; empty where a prime is too large for one, and for a length of 1.
TORCHTRT_API std::vector<int64_t> radixesOf(int64_t length);

// A transform of `length` numbers is chirp times (chirp times numbers, convolved with the conjugate chirp). Both
// vectors hold (re, im) pairs.
template <typename T>
struct TORCHTRT_API Chirp {
  explicit Chirp(int64_t length);

  int64_t padded;           // a power of two: the length of the transforms that convolve
  std::vector<T> chirp;     // exp(-pi i k^2 / length)
  std::vector<T> spectrum;  // the transform of the conjugate chirp, divided by `padded`
};

extern template TORCHTRT_API void addRoot<float>(int64_t k, int64_t n, std::vector<float>& pairs);
extern template TORCHTRT_API void addRoot<double>(int64_t k, int64_t n, std::vector<double>& pairs);
extern template struct Chirp<float>;
extern template struct Chirp<double>;

}  // namespace torchtrt::kernels::fourier
