// The maxima over windows of two by two pixels of a convolution by products: the four rows of a window lie next to each
// other in the product, and neither they nor what no window reads is stored.
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/convolution/fused/product_pooled.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::convolution::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

// Returns the maxima of a vector from each of four lines, as pooling/ finds them.
template <typename Load>
HWY_INLINE auto maximaOf(const Load& load) {
  auto maxima = load(0);
#pragma GCC unroll 4
  for (int r = 1; r < 4; ++r) {
    maxima = math::greater(maxima, load(r));
  }
  return maxima;
}

// Line w of `out` is the maxima of lines 4w to 4w + 3 of `rows`, all `columns` long.
void maximaOfFour(const float* rows, int64_t windows, int64_t columns, float* out) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t w = 0; w < windows; ++w, rows += 4 * columns, out += columns) {
    int64_t c = 0;
    for (; c + lanes <= columns; c += lanes) {
      hn::StoreU(maximaOf([&](int r) HWY_ATTR { return hn::LoadU(d, rows + r * columns + c); }), d, out + c);
    }
    if (c < columns) {
      const auto rest = hn::FirstN(d, static_cast<size_t>(columns - c));
      const auto maxima = maximaOf([&](int r) HWY_ATTR { return hn::MaskedLoad(rest, d, rows + r * columns + c); });
      hn::BlendedStore(maxima, rest, d, out + c);
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::convolution::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/gemm/implicit_gemm.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

HWY_EXPORT(maximaOfFour);

constexpr int64_t kUnit = gemm::kTileRows / 4;       // windows of a tile of the product: chunks begin with one
constexpr int64_t kBufferFloats = 4096;              // of a chunk's rows, on the stack
constexpr size_t kMostWeights = size_t{128} * 1024;  // bytes: read from the second-level cache for every few rows
constexpr int64_t kMostRows = 4096;                  // each has an entry in a table

class PooledProduct final : public Prepared {
 public:
  PooledProduct(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes) : packed_(std::move(packed)) {
    const Geometry& g = packed_->geometry;
    const Image input = imageOf(shapes.inputs[0]);
    const Image maxima = imageOf(shapes.outputs[0]);
    for (const Tap& tap : tapsOf(packed_->geometry, packed_->reading, input)) {
      tap_offsets_.push_back(tap.offset);
    }
    windows_ = maxima.batch * maxima.pixels();
    Pixel window = {};
    for (int64_t w = 0; w < windows_; ++w, maxima.advance(window)) {
      for (const int64_t y : {0, 1}) {
        for (const int64_t x : {0, 1}) {
          pixels_.push_back(offsetOfWindow(g, input, {window[0], 0, 2 * window[2] + y, 2 * window[3] + x}));
        }
      }
    }
    const int64_t flops = 8 * g.outputs * g.channels * g.taps();
    grain_ = std::max<int64_t>(1, gemm::kMinChunkFlops / std::max<int64_t>(1, kUnit * flops));
  }

  size_t heldBytes() const override {
    return pixels_.size() * sizeof(int64_t);
  }

  void run(const RunArgs& args) const override {
    const Geometry& g = packed_->geometry;
    const int64_t at_once = kBufferFloats / (4 * kUnit * g.outputs) * kUnit;
    gemm::Slab given{};
    given.panels = packed_->groups[0].panels();
    given.a = static_cast<const float*>(args.inputs[0]);
    given.taps = packed_->taps;
    given.tap_offsets = tap_offsets_.data();
    given.run = packed_->run;
    given.out_stride = g.outputs;
    given.bias = g.has_bias ? static_cast<const float*>(args.inputs[2]) : nullptr;
    given.epilogue = &packed_->epilogue;
    parallelFor(args.threads, 0, (windows_ + kUnit - 1) / kUnit, grain_, [&](int64_t begin, int64_t end) {
      alignas(64) float rows[kBufferFloats];
      gemm::Slab slab = given;
      slab.out = rows;
      const int64_t last = std::min(end * kUnit, windows_);
      for (int64_t window = begin * kUnit; window < last; window += at_once) {
        const int64_t count = std::min(at_once, last - window);
        slab.rows = 4 * count;
        slab.a_offsets = pixels_.data() + 4 * window;
        packed_->functions.slab(slab);
        HWY_DYNAMIC_DISPATCH(maximaOfFour)
        (rows, count, g.outputs, static_cast<float*>(args.outputs[0]) + window * g.outputs);
      }
    });
  }

 private:
  std::shared_ptr<const PackedConvolution> packed_;
  std::vector<int64_t> tap_offsets_;
  std::vector<int64_t> pixels_;  // of the input: where the rows of every window begin
  int64_t windows_ = 0;
  int64_t grain_ = 1;
};

}  // namespace

Fused preparePooledProduct(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes) {
  const Geometry& g = packed->geometry;
  const Image maxima = imageOf(shapes.outputs[0]);
  const bool is_padded = g.pre_padding != Spatial{0, 0, 0} || g.post_padding != Spatial{0, 0, 0};
  const bool is_dense = maxima.channel_stride == 1 && maxima.stride[2] == g.outputs && isFlat(maxima, maxima.stride[2]);
  const bool is_small = packed->groups[0].bytes() <= kMostWeights && 4 * kUnit * g.outputs <= kBufferFloats &&
                        4 * maxima.batch * maxima.pixels() <= kMostRows;
  if (g.spatial_rank != 2 || g.groups != 1 || g.has_residual || is_padded) {
    return Refusal{"form", "needs a 2-d convolution of one group, without padding and without a residual"};
  }
  if (!is_dense) {
    return Refusal{"layout", "needs dense channels-last maxima"};
  }
  if (!is_small) {
    return Refusal{"slower", "the image or the weights are large"};
  }
  return std::make_unique<PooledProduct>(std::move(packed), shapes);
}

}  // namespace torchtrt::kernels::convolution
#endif  // HWY_ONCE
