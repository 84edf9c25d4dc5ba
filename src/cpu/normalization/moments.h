// Mean and factor of what is normalized together, from a row of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cpu/simd/row_reductions.h"

namespace torchtrt::kernels::normalization {

template <typename T>
struct Moments {
  T mean;    // 0 where the factor is: a difference from it might be infinite, which 0 makes NaN
  T factor;  // 1 / sqrt(variance + eps)
};

template <typename T>
struct Spread {
  T mean;
  double variance;
};

// From deviations about a mean, which is rounded more than once: it may be off by more than what values differ by, and
// a row of equal values would not be 0. So the mean of what is left is added. `each`: one over the number of values.
template <typename T>
Spread<T> spreadOf(T mean, const Deviations<T>& deviations, double each) {
  double left = static_cast<double>(deviations.sum) * each;
  left = std::isfinite(left) ? left : 0;
  const double variance = static_cast<double>(deviations.squares) * each - left * left;
  return {static_cast<T>(static_cast<double>(mean) + left), std::max(variance, 0.0)};  // NaN stays
}

// Returns the mean of a row whose plain sum is infinite though its values are not.
template <typename T>
T meanOfLarge(const T* row, int64_t count) {
  T mean = 0;
  for (int64_t i = 0; i < count; ++i) {
    mean += row[i] / static_cast<T>(count);
  }
  return mean;
}

template <typename T>
Moments<T> momentsOf(const T* row, int64_t count, double eps, bool is_centered) {
  const RowReductionsOf<T>& functions = rowReductions<T>();
  const double each = 1.0 / static_cast<double>(count);
  const auto factorOf = [eps](double variance) { return static_cast<T>(1.0 / std::sqrt(variance + eps)); };
  if (!is_centered) {
    return {T(0), factorOf(static_cast<double>(functions.deviations(row, T(0), count).squares) * each)};
  }
  auto mean = static_cast<T>(static_cast<double>(functions.sum(row, count)) * each);
  if (!std::isfinite(mean)) {
    mean = meanOfLarge(row, count);
  }
  const Spread<T> spread = spreadOf(mean, functions.deviations(row, mean, count), each);
  const T factor = factorOf(spread.variance);
  return {factor == 0 ? T(0) : spread.mean, factor};
}

}  // namespace torchtrt::kernels::normalization
