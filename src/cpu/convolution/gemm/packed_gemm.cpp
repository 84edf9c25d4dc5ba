// Which convolutions our own implicit matrix product takes: float32 and float64, constant kernels, channels-last
// outputs. No im2col, no copy but of small padded images and at borders of narrow inputs.
#include <hwy/targets.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
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

constexpr int64_t kNarrowChannels = 16;  // up to here a row of taps is read as one run

// Whether the pixels of a line lie next to each other, however images of one channel are ordered otherwise.
bool hasDenseLines(const Operand& input) {
  if (isRowMajor(input) || isChannelsLast(input)) {
    return true;
  }
  const std::vector<uint8_t>& order = input.order;
  const bool channels_are_last = order.back() == 1;
  return order[order.size() - (channels_are_last ? 2 : 1)] + size_t{1} == order.size();
}

Reading chooseReading(const Geometry& g, const Operand& input) {
  if (!isChannelsLast(input) && g.channels > 1) {
    return Reading::kPlanes;
  }
  const bool is_narrow = g.groups == 1 && g.channels <= kNarrowChannels && g.dilation[2] == 1 && g.kernel[2] > 1;
  return is_narrow && hasDenseLines(input) ? Reading::kChannelRows : Reading::kChannels;
}

// Where a group's row k of the product's B begins in the weights [outputs, channels, taps]; its columns are `depth`
// apart.
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
class HighwayConvolutionKernel : public Kernel, public RestoresConstants {
 public:
  explicit HighwayConvolutionKernel(std::shared_ptr<const PackedConvolutionOf<T>> packed)
      : packed_(std::move(packed)) {}

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
class LongConvolutionKernel final : public HighwayConvolutionKernel<T> {
 public:
  using HighwayConvolutionKernel<T>::HighwayConvolutionKernel;

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return prepareLongWindows<T>(this->packed_, shapes);
  }
};

// Whether rows of a window do not fit on the stack, where borders would put them together.
template <typename T>
bool isLong(const PackedConvolutionOf<T>& packed) {
  return packed.reading != Reading::kChannels && packed.taps * packed.run * kTileRows > kMaxPatch;
}

bool padsNegatively(const Geometry& g) {
  const auto is_negative = [](int64_t padding) { return padding < 0; };
  return std::any_of(g.pre_padding.begin(), g.pre_padding.end(), is_negative) ||
         std::any_of(g.post_padding.begin(), g.post_padding.end(), is_negative);
}

class JoiningConvolutionKernel final : public HighwayConvolutionKernel<float>,
                                       public ScalesInput,
                                       public PoolsOutput,
                                       public ComputesPixels {
 public:
  using HighwayConvolutionKernel::HighwayConvolutionKernel;

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

// By measurement (two cores, AVX-512): with a deep kernel, oneDNN's blocking over the depth wins by 15 to 20 %; with
// groups by 20 to 50 %; for the first layer of an image network, its kernel of its own by half. But not if that halves
// the image and computes silu, for which oneDNN takes 1.0 to 1.6 times as long with vectors of AVX2 or AVX-512. Nor if
// what a line of the output reads lies multiples of 4 KiB apart, in one set of the first-level cache: with AVX-512,
// whose tiles are long, oneDNN takes 1.1 to 1.7 times as long then; and not for lines of one pixel (2 times).
bool isFasterInOneDnn(const Problem& problem, const PackedConvolution& packed) {
#ifdef TORCHTRT_NO_ONEDNN
  (void)problem, (void)packed;
  return false;
#else
  const Geometry& g = packed.geometry;
  if (problem.inputs[0].order != problem.outputs[0].order || (g.taps() == 1 && g.groups == 1)) {
    return false;
  }
  const int64_t depth = packed.taps * packed.run;
  const std::vector<int64_t>& size = problem.outputs[0].opt_dims;
  const int64_t rows = std::accumulate(size.begin() + 2, size.end(), size[0], std::multiplies<>());
  if (packed.reading == Reading::kChannels) {
    const int64_t apart = g.stride[2] * g.channels * static_cast<int64_t>(sizeof(float));
    const bool collides = (hwy::SupportedTargets() & HWY_AVX3) != 0 && g.groups == 1 && apart % 4096 == 0;
    if (collides || (g.groups == 1 && size.back() == 1 && rows > size[0])) {
      return false;
    }
    return (depth >= 512 || g.groups > 1) && rows * depth * g.outputs >= 4'000'000;
  }
  const bool has_fast_silu = (hwy::SupportedTargets() & HWY_AVX2) != 0;
  return depth < 64 && rows >= 4096 && !(has_fast_silu && g.activation == "silu" && g.stride[2] > 1);
#endif
}

bool isFasterInOneDnn(const Problem&, const PackedConvolutionOf<double>&) {
  return false;  // it has no float64
}

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
    return Refusal{"narrow-groups", "would leave most of each vector empty with fewer than 8 outputs per group"};
  }
  packed->reading = chooseReading(g, problem.inputs[0]);
  if (packed->reading == Reading::kPlanes &&
      (g.groups > 1 || g.channels > kNarrowChannels || g.dilation[2] != 1 || !isRowMajor(problem.inputs[0]))) {
    return Refusal{"memory-order", "reads row-major images only with few channels, one group and undilated width"};
  }
  const int64_t channels = g.channels / g.groups;
  packed->run = packed->reading == Reading::kChannels      ? channels
                : packed->reading == Reading::kChannelRows ? channels * g.kernel[2]
                                                           : g.kernel[2];
  packed->taps = channels * g.taps() / packed->run;
  const bool is_long = isLong(*packed);
  if (packed->taps > kMaxTaps && !is_long) {
    return Refusal{"large-kernel", "keeps the pointers of a tile on the stack, and there would be too many"};
  }
  if (is_long && padsNegatively(g)) {
    return Refusal{"padding", "takes no negative padding with long windows"};
  }
  if (!problem.by_name && isFasterInOneDnn(problem, *packed)) {
    return Refusal{"slower", "is slower than onednn for a kernel of this size"};
  }
  for (int64_t group = 0; group < g.groups; ++group) {
    packed->groups.push_back(
        packGroup(*packed, static_cast<const T*>(problem.inputs[1].constant), group, problem.threads));
  }
  packed->zeros.assign(static_cast<size_t>(packed->run), T(0));
  packed->epilogue = gemm::makeEpilogue<T>(g.activation, g.alpha, g.beta);
  packed->functions = gemm::functions<T>();
  if (is_long) {
    return std::make_unique<LongConvolutionKernel<T>>(std::move(packed));
  }
  if constexpr (std::is_same_v<T, float>) {
    return std::make_unique<JoiningConvolutionKernel>(std::move(packed));
  } else {
    return std::make_unique<HighwayConvolutionKernel<T>>(std::move(packed));
  }
}

}  // namespace

CreateResult createHighway(const Problem& problem) {
  const bool is_double = problem.outputs[0].dtype == DType::kFloat64;
  const std::variant<Geometry, Refusal> described = describe(problem, is_double ? DType::kFloat64 : DType::kFloat32);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& geometry = std::get<Geometry>(described);
  return is_double ? create<double>(problem, geometry) : create<float>(problem, geometry);
}

}  // namespace torchtrt::kernels::convolution
