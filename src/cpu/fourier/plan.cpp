#include "cpu/fourier/plan.h"

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

namespace torchtrt::kernels::fourier {
namespace {

// The radixes of the stages; empty where a prime is too large for one.
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

// In double and in the plain order: of a plan's own chirp alone.
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

template <typename T>
void addRoot(int64_t k, int64_t n, std::vector<T>& pairs) {
  const double angle = -2 * std::numbers::pi * (static_cast<double>(k % n) / static_cast<double>(n));
  pairs.push_back(static_cast<T>(std::cos(angle)));
  pairs.push_back(static_cast<T>(std::sin(angle)));
}
template void addRoot<float>(int64_t k, int64_t n, std::vector<float>& pairs);
template void addRoot<double>(int64_t k, int64_t n, std::vector<double>& pairs);

template <typename T>
Plan<T>::Plan(int64_t length) : length(length) {
  const std::vector<int64_t> radixes = radixesOf(length);
  if (length > 1 && radixes.empty()) {
    const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)));
    chirp_transform = std::make_unique<Plan>(padded);
    std::vector<std::complex<double>> spectrum(static_cast<size_t>(padded));
    for (int64_t k = 0; k < length; ++k) {
      std::vector<double> root;
      addRoot(k * k % (2 * length), 2 * length, root);  // exp(-pi i k^2 / n)
      chirp.push_back(static_cast<T>(root[0]));
      chirp.push_back(static_cast<T>(root[1]));
      spectrum[static_cast<size_t>(k)] = spectrum[static_cast<size_t>(k == 0 ? 0 : padded - k)] = {root[0], -root[1]};
    }
    transformInPlace(spectrum);
    for (const std::complex<double>& value : spectrum) {
      chirp_spectrum.push_back(static_cast<T>(value.real() / static_cast<double>(padded)));
      chirp_spectrum.push_back(static_cast<T>(value.imag() / static_cast<double>(padded)));
    }
    return;
  }
  int64_t rest = length, stride = 1;
  for (const int64_t radix : radixes) {
    Stage stage{radix, rest / radix, stride, factors.size(), roots.size()};
    for (int64_t p = 0; p < stage.count; ++p) {
      for (int64_t k = 1; k < radix; ++k) {
        addRoot(p * k, rest, factors);
      }
    }
    for (int64_t k = 0; radix % 2 != 0 && k < radix; ++k) {
      addRoot(k, radix, roots);
    }
    stages.push_back(stage);
    rest = stage.count;
    stride *= radix;
  }
}
template struct Plan<float>;
template struct Plan<double>;

}  // namespace torchtrt::kernels::fourier
