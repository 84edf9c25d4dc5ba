#include "cpu/convolution/fused/pointwise_pixels.h"

#include <algorithm>
#include <utility>

namespace torchtrt::kernels::convolution {
namespace {

class PointwisePixels final : public PixelSource {
 public:
  PointwisePixels(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), pixel_stride_(imageOf(shapes.inputs[0]).stride[2]) {
    const Image input = imageOf(shapes.inputs[0]);
    pixels_ = input.batch * input.pixels();
  }

  // A tile adds up in an order that depends on how many rows it has. So tiles are those that the whole product has,
  // which begin at multiples of kTileRows: whether pixels are computed piece by piece must not show.
  void compute(const void* const* inputs, int64_t first, int64_t count, float* to) const override {
    const int64_t outputs = packed_->geometry.outputs;
    const int64_t end = first + count;
    while (first < end) {
      const int64_t tile = first / gemm::kTileRows * gemm::kTileRows;
      const int64_t whole = end == pixels_ ? end : end / gemm::kTileRows * gemm::kTileRows;
      if (tile == first && whole > first) {
        computeTiles(inputs, first, whole - first, to);
        to += (whole - first) * outputs;
        first = whole;
        continue;
      }
      alignas(64) float rows[kMostFloats];
      computeTiles(inputs, tile, std::min<int64_t>(gemm::kTileRows, pixels_ - tile), rows);
      const int64_t last = std::min(end, tile + gemm::kTileRows);
      to = std::copy(rows + (first - tile) * outputs, rows + (last - tile) * outputs, to);
      first = last;
    }
  }

  static constexpr int64_t kMostFloats = 8192;  // of a tile, on the stack

 private:
  void computeTiles(const void* const* inputs, int64_t first, int64_t count, float* to) const {
    const Geometry& g = packed_->geometry;
    gemm::Slab slab{};
    slab.panels = packed_->groups[0].panels();
    slab.rows = count;
    slab.a = static_cast<const float*>(inputs[0]) + first * pixel_stride_;
    slab.a_stride = pixel_stride_;
    slab.run = g.channels;
    slab.out = to;
    slab.out_stride = g.outputs;
    slab.bias = g.has_bias ? static_cast<const float*>(inputs[2]) : nullptr;
    slab.epilogue = &packed_->epilogue;
    packed_->functions.slab(slab);
  }

  std::shared_ptr<const PackedConvolution> packed_;
  int64_t pixel_stride_;  // of the input, in elements
  int64_t pixels_ = 0;    // of the whole batch
};

}  // namespace

std::unique_ptr<PixelSource> preparePointwisePixels(std::shared_ptr<const PackedConvolution> packed,
                                                    const ShapeSet& shapes) {
  const Geometry& g = packed->geometry;
  constexpr size_t kMostWeights = size_t{128} * 1024;  // bytes: read again for every few pixels
  const Image input = imageOf(shapes.inputs[0]);
  if (!isPlainProduct(*packed) || packed->groups[0].bytes() > kMostWeights || g.has_residual ||
      gemm::kTileRows * g.outputs > PointwisePixels::kMostFloats || input.channel_stride != 1 ||
      !isFlat(input, input.stride[2])) {
    return nullptr;
  }
  return std::make_unique<PointwisePixels>(std::move(packed), shapes);
}

}  // namespace torchtrt::kernels::convolution
