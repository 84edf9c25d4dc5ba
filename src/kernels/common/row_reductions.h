// Sums, extremes and exponentials over rows of float32 values, for softmax, normalization and reduce. Long sums are
// spread over many partial ones, so rounding grows slowly; results depend on the row alone.
#pragma once

#include <cstdint>

namespace torchtrt::kernels {

struct RowReductions {
  float (*sum)(const float* values, int64_t count);
  float (*sumSquares)(const float* values, float mean, int64_t count);  // of value - mean
  float (*dot)(const float* a, const float* b, int64_t count);
  float (*max)(const float* values, int64_t count);  // -inf for none; NaN if there is one
  float (*min)(const float* values, int64_t count);  // inf for none; NaN if there is one
  // out[i] = exp(in[i] - shift); returns their sum. out may be null.
  float (*exponentials)(const float* in, float shift, float* out, int64_t count);
  // The same for rows next to each other: totals[i] += exp(in[i] - shifts[i]). out may be null.
  void (*exponentialsEach)(const float* in, const float* shifts, float* out, float* totals, int64_t count);
  // out[i] = in[i] * factor + offset
  void (*scale)(const float* in, float factor, float offset, float* out, int64_t count);
  // out[i] = in[i] * factors[i] + offsets[i]
  void (*scaleEach)(const float* in, const float* factors, const float* offsets, float* out, int64_t count);
  // out[i] = (in[i] + first[i]) + second[i]
  void (*shiftTwice)(const float* in, const float* first, const float* second, float* out, int64_t count);
  // out[i] = (in[i] - mean) * factor * weights[i] + biases[i]; weights and biases may be null
  void (*normalize)(const float* in, float mean, float factor, const float* weights, const float* biases, float* out,
                    int64_t count);
  // totals[i] += values[i], and the greater and lesser of both, NaN counting as either
  void (*add)(const float* values, float* totals, int64_t count);
  void (*raise)(const float* values, float* totals, int64_t count);
  void (*lower)(const float* values, float* totals, int64_t count);
};

// The variants for this machine.
const RowReductions& rowReductions();

}  // namespace torchtrt::kernels
