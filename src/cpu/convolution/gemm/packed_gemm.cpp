// The implicit matrix multiplication takes float32 and float64 convolutions with constant filters and channels-last
// outputs. It needs no im2col, and copies only small padded images and the borders of narrow inputs.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/fast.h"
#include "cpu/convolution/fused/pointwise_pixels.h"
#include "cpu/convolution/fused/scaled_pointwise.h"
#include "cpu/convolution/gemm/implicit_gemm.h"
#include "cpu/convolution/gemm/long_windows.h"
#include "cpu/convolution/gemm/padded_product.h"
#include "cpu/gemm/unpack.h"
#include "kernels/fusion.h"
#include "kernels/restores.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::kTileRows;
using gemm::PackedBOf;

// The begin of a group's row k of matrix B in the weights [outputs, channels, taps]; columns are `depth` apart.
struct RowsOfGroup {
  int64_t first;  // of the group
  int64_t depth;
  int64_t channels;
  int64_t taps;
  bool planes;

  template <typename T>
  RowsOfGroup(const PackedConvolutionOf<T>& packed, int64_t group)
      : depth(packed.geometry.channels / packed.geometry.groups * packed.geometry.taps()),
        channels(packed.geometry.channels / packed.geometry.groups),
        taps(packed.geometry.taps()),
        planes(packed.reading == Reading::kPlanes) {
    first = group * (packed.geometry.outputs / packed.geometry.groups) * depth;
  }
  int64_t operator()(int64_t k) const {
    const int64_t channel = planes ? k / taps : k % channels;
    const int64_t tap = planes ? k % taps : k / channels;
    return first + channel * taps + tap;
  }
};

template <typename T>
PackedBOf<T> packGroup(const PackedConvolutionOf<T>& packed, const T* weights, int64_t group, int threads) {
  const Geometry& g = packed.geometry;
  const RowsOfGroup rows(packed, group);
  return PackedBOf<T>(
      rows.depth, g.outputs / g.groups, rows.depth, [&](int64_t k) { return weights + rows(k); }, threads);
}

template <typename T>
class PackedGemmKernel : public Kernel, public RestoresConstants {
 public:
  explicit PackedGemmKernel(std::shared_ptr<const PackedConvolutionOf<T>> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    std::unique_ptr<Prepared> padded = preparePadded<T>(*packed_, shapes, prepareImplicitGemm<T>);
    return padded != nullptr ? std::move(padded) : prepareImplicitGemm(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    size_t bytes = 0;
    for (const PackedBOf<T>& group : packed_->groups) {
      bytes += group.bytes();
    }
    return bytes;
  }
  bool restores(int input) const override {
    return input == 1;
  }
  void restore(int, void* to, int threads) const override {
    auto* weights = static_cast<T*>(to);
    for (size_t group = 0; group < packed_->groups.size(); ++group) {
      const RowsOfGroup rows(*packed_, static_cast<int64_t>(group));
      gemm::unpack(
          packed_->groups[group], rows.depth, [&](int64_t k) { return weights + rows(k); }, threads);
    }
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    if (input != 0) {
      return false;
    }
    switch (packed_->reading) {
      case Reading::kPlanes:
        return desc.strides.back() == 1;
      case Reading::kChannelRows:
        return (desc.dims[1] == 1 || desc.strides[1] == 1) && desc.strides.back() == desc.dims[1];
      case Reading::kChannels:
        break;
    }
    return desc.dims[1] == 1 || desc.strides[1] == 1;
  }

 protected:
  std::shared_ptr<const PackedConvolutionOf<T>> packed_;
};

template <typename T>
class LongWindowsKernel final : public PackedGemmKernel<T> {
 public:
  using PackedGemmKernel<T>::PackedGemmKernel;

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return prepareLongWindows<T>(this->packed_, shapes);
  }
};

// True if rows of a window do not fit on the stack, where borders would put them together.
template <typename T>
bool isLong(const PackedConvolutionOf<T>& packed) {
  return packed.reading != Reading::kChannels && packed.taps * packed.run * kTileRows > kMaxPatch;
}

bool padsNegatively(const Geometry& g) {
  const auto is_negative = [](int64_t padding) { return padding < 0; };
  return std::any_of(g.pre_padding.begin(), g.pre_padding.end(), is_negative) ||
         std::any_of(g.post_padding.begin(), g.post_padding.end(), is_negative);
}

class FusingGemmKernel final : public PackedGemmKernel<float>,
                               public ScalesInput,
                               public PoolsOutput,
                               public ComputesPixels {
 public:
  using PackedGemmKernel::PackedGemmKernel;

  Fused prepareScaled(const ShapeSet& shapes) const override {
    return prepareScaledPointwise(packed_, shapes);
  }
  Fused preparePooled(const ShapeSet& shapes) const override {
    const auto pooled = [](std::shared_ptr<const PackedConvolution> packed, const ShapeSet& padded_shapes) {
      Fused fused = preparePooledProduct(std::move(packed), padded_shapes);
      auto* const prepared = std::get_if<std::unique_ptr<Prepared>>(&fused);
      return prepared == nullptr ? nullptr : std::move(*prepared);
    };
    if (std::unique_ptr<Prepared> padded = preparePadded<float>(*packed_, shapes, pooled)) {
      return padded;
    }
    return preparePooledProduct(packed_, shapes);
  }
  std::unique_ptr<PixelSource> preparePixels(const ShapeSet& shapes) const override {
    return preparePointwisePixels(packed_, shapes);
  }
};

template <typename T>
CreateResult create(const Problem& problem, const Geometry& g) {
  auto packed = std::make_shared<PackedConvolutionOf<T>>();
  packed->geometry = g;
  if (g.outputs > 1 && !isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "writes channels-last only"};
  }
  if (g.has_residual && problem.inputs[3].order != problem.outputs[0].order) {
    return Refusal{"memory-order", "reads the residual in the order of the output only"};
  }
  if (g.groups > 1 && g.outputs / g.groups < 8) {
    return Refusal{"narrow-groups", "takes groups of 8 outputs or more: fewer leave most of each vector empty"};
  }
  static_cast<Runs&>(*packed) = runsOf(g, problem.inputs[0]);
  if (packed->reading == Reading::kPlanes &&
      (g.groups > 1 || g.channels > kFewChannels || g.dilation[2] != 1 || !isRowMajor(problem.inputs[0]))) {
    return Refusal{"memory-order", "reads row-major images only with few channels, one group and undilated width"};
  }
  const bool is_long = isLong(*packed);
  if (packed->taps > kMaxTaps && !is_long) {
    return Refusal{"large-kernel", "keeps the pointers of a tile on the stack, and there would be too many"};
  }
  if (is_long && padsNegatively(g)) {
    return Refusal{"padding", "takes no negative padding with long windows"};
  }
  for (int64_t group = 0; group < g.groups; ++group) {
    packed->groups.push_back(
        packGroup(*packed, static_cast<const T*>(problem.inputs[1].constant), group, problem.threads));
  }
  packed->zeros.assign(static_cast<size_t>(packed->run), T(0));
  packed->epilogue = gemm::makeEpilogue<T>(g.activation, g.alpha, g.beta);
  packed->functions = gemm::functions<T>(gemm::rowOrder(problem.batch_invariant));
  if (is_long) {
    return std::make_unique<LongWindowsKernel<T>>(std::move(packed));
  }
  if constexpr (std::is_same_v<T, float>) {
    return std::make_unique<FusingGemmKernel>(std::move(packed));
  } else {
    return std::make_unique<PackedGemmKernel<T>>(std::move(packed));
  }
}

}  // namespace

CreateResult createPackedGemm(const Problem& problem) {
  const bool is_double = problem.outputs[0].dtype == DType::kFloat64;
  const std::variant<Geometry, Refusal> described = describe(problem, is_double ? DType::kFloat64 : DType::kFloat32);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& geometry = std::get<Geometry>(described);
  return is_double ? create<double>(problem, geometry) : create<float>(problem, geometry);
}

}  // namespace torchtrt::kernels::convolution
