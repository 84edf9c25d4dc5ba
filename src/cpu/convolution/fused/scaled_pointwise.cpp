#include "cpu/convolution/fused/scaled_pointwise.h"

#include <algorithm>
#include <utility>

#include "cpu/pointwise/rows/rows.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

constexpr int64_t kBandFloats = 4096;             // of a band of rows, beside the weights in the first-level cache
constexpr int64_t kMostFloats = 12288;            // of one tile; they are on the stack
constexpr size_t kMostWeights = 320 * 1024;       // bytes: more do not stay in the second-level cache from band to band
constexpr size_t kMostWeightsOfFew = 700 * 1024;  // where few bands read them anew
constexpr int64_t kFewRows = 64;

class ScaledPointwise final : public Prepared {
 public:
  ScaledPointwise(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes)
      : packed_(std::move(packed)),
        input_(imageOf(shapes.inputs[0])),
        output_(imageOf(shapes.outputs[0])),
        factors_(shapes.inputs.size()),
        multiply_(pointwise::findBinaryRow("prod")) {
    const gemm::PackedB& b = packed_->groups[0];
    rows_ = output_.batch * output_.pixels();
    band_ = std::max<int64_t>(1, kBandFloats / (gemm::kTileRows * b.depth())) * gemm::kTileRows;
    grain_ = std::max<int64_t>(1, gemm::kMinChunkFlops / std::max<int64_t>(1, 2 * band_ * b.depth() * b.columns()));
  }

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    const auto* in = static_cast<const float*>(args.inputs[0]);
    const auto* factors = static_cast<const float*>(args.inputs[factors_]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const float* residual = g.has_residual ? static_cast<const float*>(args.inputs[3]) : nullptr;
    const int64_t pixels = output_.pixels();
    const int64_t bands = (rows_ + band_ - 1) / band_;
    parallelFor(args.threads, 0, bands, grain_, [&](int64_t begin, int64_t end) {
      alignas(64) float scaled[kMostFloats];
      gemm::Slab slab{};
      slab.panels = packed_->groups[0].panels();
      slab.a = scaled;
      slab.a_stride = slab.run = g.channels;
      slab.out_stride = output_.stride[2];
      slab.bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
      slab.epilogue = &packed_->epilogue;
      for (int64_t band = begin; band < end; ++band) {
        const int64_t first = band * band_;
        slab.rows = std::min(band_, rows_ - first);
        for (int64_t r = 0; r < slab.rows; ++r) {
          const int64_t row = first + r;
          multiply_(in + row * input_.stride[2], 1, factors + row / pixels * g.channels, 1, scaled + r * g.channels,
                    g.channels);
        }
        slab.out = out + first * slab.out_stride;
        slab.residual = residual == nullptr ? nullptr : residual + first * slab.out_stride;
        packed_->functions.slab(slab);
      }
    });
  }

 private:
  std::shared_ptr<const PackedConvolution> packed_;
  Image input_;
  Image output_;
  size_t factors_;  // which input
  pointwise::BinaryRowFunction multiply_;
  int64_t rows_ = 0;  // pixels of the whole batch
  int64_t band_ = 0;  // rows of a unit of work
  int64_t grain_ = 1;
};

}  // namespace

Fused prepareScaledPointwise(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes) {
  const Geometry& g = packed->geometry;
  if (!isPlainProduct(*packed) || gemm::kTileRows * g.channels > kMostFloats) {
    return Refusal{"window", "needs a 1x1 convolution of few enough channels for a buffer of scaled rows"};
  }
  const Image input = imageOf(shapes.inputs[0]);
  const Image output = imageOf(shapes.outputs[0]);
  const size_t most = output.batch * output.pixels() <= kFewRows ? kMostWeightsOfFew : kMostWeights;
  if (packed->groups[0].bytes() > most) {
    return Refusal{"slower", "the weights would not stay in the cache beside the scaled rows"};
  }
  if (input.channel_stride != 1 || !isFlat(input, input.stride[2]) || !isFlat(output, output.stride[2])) {
    return Refusal{"layout", "needs pixels that lie one after the other"};
  }
  return std::make_unique<ScaledPointwise>(std::move(packed), shapes);
}

}  // namespace torchtrt::kernels::convolution
