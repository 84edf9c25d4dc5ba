// One output row of a convolution with few outputs over row-major images: what the vector code of planes.cpp works on.
#pragma once

#include <cstdint>

#include "cpu/gemm/packed_gemm.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kMaxPlanes = 8;  // outputs: their sums are kept in registers

struct PlanesRow {
  const float* const* lines;  // per input channel, depth and height tap; none null
  int64_t line_count;
  const int64_t* tap_offsets;  // elements from a line's first column to what width tap k of output column 0 reads
  int64_t width_taps;
  const float* weights;  // [line][width tap][outputs]
  const float* bias;     // null or one per output
  int64_t outputs;       // 1 to kMaxPlanes
  float* out;            // column 0 of the first output
  int64_t out_stride;    // from output to output
  int64_t columns;       // fewer than a vector only where lines may be read a vector further than they go
  const gemm::Epilogue* epilogue;
};

}  // namespace torchtrt::kernels::convolution
