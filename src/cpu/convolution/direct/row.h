// Depthwise and grouped convolutions, and those to few outputs, share this. They compute a block of channels of one
// output row at a time, channels-last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/convolution/geometry.h"
#include "cpu/gemm/packed_gemm.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kMaxRowLines = 256;  // depth times height taps; their pointers are on the stack

struct Row {
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

// Why a convolution cannot go row by row: memory order, residual, tall kernels.
std::optional<Refusal> refuseRows(const Problem& problem, const Geometry& geometry);

struct PackedRows {
  Geometry geometry;
  std::shared_ptr<float> weights;
  size_t bytes = 0;          // of the weights
  std::vector<float> zeros;  // as long as the widest block
  gemm::Epilogue epilogue;
};
// Zeroed memory for `floats` weights, and `zeros` zeros.
void allocate(PackedRows& packed, const Geometry& geometry, int64_t floats, int64_t zeros);

// The row of a call whose first pixel is `first`, except for the lines that it reads: its output is the call's, the
// bias its third operand.
Row rowTo(const PackedRows& packed, const Image& input, const Image& output, const RunArgs& args, const Pixel& first);
// The same with lines of the call's first operand. `lines` has room for kMaxRowLines and has to live as long as the
// row.
Row rowAt(const PackedRows& packed, const Image& input, const Image& output, const RunArgs& args, const Pixel& first,
          const float** lines);

}  // namespace torchtrt::kernels::convolution
