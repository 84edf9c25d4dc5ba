// Sums, extremes and exponentials over rows of float32 or float64 values, for softmax, normalization and reduce. Long
// sums are spread over many partial ones, so rounding grows slowly; results depend on the row alone.
#pragma once

#include <cstdint>

namespace torchtrt::kernels {

// Sums of deviations from some number, and of their squares.
template <typename T>
struct Deviations {
  T sum;
  T squares;
};

template <typename T>
struct RowReductionsOf {
  T (*sum)(const T* values, int64_t count);
  Deviations<T> (*deviations)(const T* values, T mean, int64_t count);  // of value - mean
  T (*dot)(const T* a, const T* b, int64_t count);
  T (*max)(const T* values, int64_t count);  // -inf for none; NaN if there is one
  T (*min)(const T* values, int64_t count);  // inf for none; NaN if there is one
  // out[i] = exp(in[i] - shift); returns their sum. out may be null.
  T (*exponentials)(const T* in, T shift, T* out, int64_t count);
  // The same for rows next to each other: totals[i] += exp(in[i] - shifts[i]). out may be null.
  void (*exponentialsEach)(const T* in, const T* shifts, T* out, T* totals, int64_t count);
  // out[i] = in[i] * factor + offset
  void (*scale)(const T* in, T factor, T offset, T* out, int64_t count);
  // out[i] = in[i] * factors[i] + offsets[i]
  void (*scaleEach)(const T* in, const T* factors, const T* offsets, T* out, int64_t count);
  // out[i] = (in[i] + first[i]) + second[i]
  void (*shiftTwice)(const T* in, const T* first, const T* second, T* out, int64_t count);
  // out[i] = (in[i] - mean) * factor * weights[i] + biases[i]; weights and biases may be null
  void (*normalize)(const T* in, T mean, T factor, const T* weights, const T* biases, T* out, int64_t count);
  // out[i] = (in[i] - means[i]) * factors[i] + biases[i]
  void (*normalizeEach)(const T* in, const T* means, const T* factors, const T* biases, T* out, int64_t count);
  // sums[i] += values[i] - means[i], squares[i] += (values[i] - means[i])^2
  void (*addDeviations)(const T* values, const T* means, T* sums, T* squares, int64_t count);
  // totals[i] += values[i], and the greater and lesser of both, NaN counting as either
  void (*add)(const T* values, T* totals, int64_t count);
  void (*raise)(const T* values, T* totals, int64_t count);
  void (*lower)(const T* values, T* totals, int64_t count);
};
using RowReductions = RowReductionsOf<float>;

// The variants for this machine.
template <typename T = float>
const RowReductionsOf<T>& rowReductions();

}  // namespace torchtrt::kernels
