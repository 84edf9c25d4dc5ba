#include "kernels/convolution/pointwise_pixels.h"

#include <utility>

namespace torchtrt::kernels::convolution {
namespace {

class PointwisePixels final : public PixelSource {
 public:
  PointwisePixels(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)), pixel_stride_(imageOf(shapes.inputs[0]).stride[2]) {}

  void compute(const void* const* inputs, int64_t first, int64_t count, float* to) const override {
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

 private:
  std::shared_ptr<const PackedConvolution> packed_;
  int64_t pixel_stride_;  // of the input, in elements
};

}  // namespace

std::unique_ptr<PixelSource> preparePointwisePixels(std::shared_ptr<const PackedConvolution> packed,
                                                    const ShapeSet& shapes) {
  const Geometry& g = packed->geometry;
  constexpr size_t kMostWeights = size_t{128} * 1024;  // bytes: read again for every few pixels
  const Image input = imageOf(shapes.inputs[0]);
  if (!isPlainProduct(*packed) || packed->groups[0].bytes() > kMostWeights || g.has_residual ||
      input.channel_stride != 1 || !isFlat(input)) {
    return nullptr;
  }
  return std::make_unique<PointwisePixels>(std::move(packed), shapes);
}

}  // namespace torchtrt::kernels::convolution
