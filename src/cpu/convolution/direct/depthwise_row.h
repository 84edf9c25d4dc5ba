// One output row of a depthwise convolution, for a block of channels: the vector code that depthwise.cpp calls.
#pragma once

#include <cstdint>

#include "cpu/convolution/direct/row.h"

namespace torchtrt::kernels::convolution {

struct DepthwiseBlock {
  int32_t channel;       // first channel
  int32_t vectors;       // 1 to 4
  int32_t valid;         // channels that exist, of vectors * lanes
  const float* weights;  // [taps][vectors * lanes]
};

struct DepthwiseFunctions {
  int64_t lanes = 0;  // floats of a vector
  void (*row)(const Row& row, const DepthwiseBlock& block) = nullptr;
  // to[c] = sum over rows r of from[r * stride + c], divided by `divisor`: of the pixels of a line, and of lines.
  void (*sum)(const float* from, int64_t stride, int64_t rows, int64_t channels, float divisor, float* to) = nullptr;
};
DepthwiseFunctions depthwiseFunctions();  // on this machine

}  // namespace torchtrt::kernels::convolution
