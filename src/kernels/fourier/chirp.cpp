#include "kernels/fourier/chirp.h"

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

namespace torchtrt::kernels::fourier {
namespace {

// Transforms the chirp alone, in double and in the plain order.
void transformInPlace(std::vector<std::complex<double>>& values) {
  const size_t n = values.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) {
      j ^= bit;
    }
    j ^= bit;
    if (i < j) {
      std::swap(values[i], values[j]);
    }
  }
  for (size_t size = 2; size <= n; size *= 2) {
    for (size_t k = 0; k < size / 2; ++k) {
      const auto root = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size));
      for (size_t begin = k; begin < n; begin += size) {
        const auto odd = values[begin + size / 2] * root;
        values[begin + size / 2] = values[begin] - odd;
        values[begin] += odd;
      }
    }
  }
}

}  // namespace

std::vector<int64_t> radixesOf(int64_t length) {
  std::vector<int64_t> radixes;
  for (const int64_t radix : {4, 2, 3, 5, 7}) {
    for (; length % radix == 0; length /= radix) {
      radixes.push_back(radix);
    }
  }
  for (int64_t radix = 11; radix <= kMostRadix; radix += 2) {
    for (; length % radix == 0; length /= radix) {
      radixes.push_back(radix);
    }
  }
  return length == 1 ? radixes : std::vector<int64_t>();
}

template <typename T>
void addRoot(int64_t k, int64_t n, std::vector<T>& pairs) {
  const double angle = -2 * std::numbers::pi * (static_cast<double>(k % n) / static_cast<double>(n));
  pairs.push_back(static_cast<T>(std::cos(angle)));
  pairs.push_back(static_cast<T>(std::sin(angle)));
}
template void addRoot<float>(int64_t k, int64_t n, std::vector<float>& pairs);
template void addRoot<double>(int64_t k, int64_t n, std::vector<double>& pairs);

template <typename T>
Chirp<T>::Chirp(int64_t length) : padded(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)))) {
  std::vector<std::complex<double>> sums(static_cast<size_t>(padded));
  for (int64_t k = 0; k < length; ++k) {
    std::vector<double> root;
    addRoot(k * k % (2 * length), 2 * length, root);
    chirp.push_back(static_cast<T>(root[0]));
    chirp.push_back(static_cast<T>(root[1]));
    sums[static_cast<size_t>(k)] = sums[static_cast<size_t>(k == 0 ? 0 : padded - k)] = {root[0], -root[1]};
  }
  transformInPlace(sums);
  for (const std::complex<double>& value : sums) {
    spectrum.push_back(static_cast<T>(value.real() / static_cast<double>(padded)));
    spectrum.push_back(static_cast<T>(value.imag() / static_cast<double>(padded)));
  }
}
template struct Chirp<float>;
template struct Chirp<double>;

}  // namespace torchtrt::kernels::fourier
