#include "cpu/convolution/gemm/tile_rows.h"

namespace torchtrt::kernels::convolution {

TileRows::TileRows(const Geometry& geometry, const TensorDesc& input, const TensorDesc& output, std::byte padding,
                   const TileCut& cut)
    : geometry_(geometry),
      input_(imageOf(input)),
      output_(imageOf(output)),
      padding_(padding),
      has_lines_(cut.depth == TileDepth::kLines) {
  const auto size = static_cast<int64_t>(sizeOf(input.dtype));
  pixel_bytes_ = geometry.channels * size;
  for (int64_t* const stride : {&input_.batch_stride, &input_.stride[0], &input_.stride[1], &input_.stride[2]}) {
    *stride *= size;
  }
}

}  // namespace torchtrt::kernels::convolution
