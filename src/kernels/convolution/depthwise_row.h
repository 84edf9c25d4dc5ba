// One output row of a depthwise convolution, for a block of channels: the vector code that depthwise.cpp calls.
#pragma once

#include <cstdint>

#include "kernels/gemm/packed_gemm.h"

namespace torchtrt::kernels::convolution {

struct DepthwiseBlock {
  int32_t channel;       // first channel
  int32_t vectors;       // 1 to 4
  int32_t valid;         // channels that exist, of vectors * lanes
  const float* weights;  // [taps][vectors * lanes]
};

struct DepthwiseRow {
  const float* const* lines;  // per depth and height tap: the input line at channel 0, null where it is padding
  const float* zeros;         // as long as the widest block
  const float* bias;          // null or one per channel
  float* out;                 // first pixel at channel 0
  int64_t line_taps;          // taps in depth times taps in height
  int64_t width_taps;
  int64_t stride;  // of the width, in pixels; so are dilation and padding
  int64_t dilation;
  int64_t padding;
  int64_t width;         // pixels of an input line
  int64_t columns;       // pixels of the output row
  int64_t pixel_stride;  // in elements
  int64_t out_stride;
  const gemm::Epilogue* epilogue;
};

struct DepthwiseFunctions {
  int64_t lanes = 0;  // floats of a vector
  void (*row)(const DepthwiseRow& row, const DepthwiseBlock& block) = nullptr;
  // to[c] = sum over rows r of from[r * stride + c], divided by `divisor`: of the pixels of a line, and of lines.
  void (*sum)(const float* from, int64_t stride, int64_t rows, int64_t channels, float divisor, float* to) = nullptr;
};
DepthwiseFunctions depthwiseFunctions();  // on this machine

}  // namespace torchtrt::kernels::convolution
