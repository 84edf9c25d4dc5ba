// Pooling over channels-last images in float32: vectors run over channels, one window at a time.
#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pooling/highway.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

#include "kernels/pooling/window.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pooling::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The greatest so far; NaN counts as greatest.
HWY_INLINE V greater(V best, V x) {
  return hn::IfThenElse(hn::Or(hn::Gt(x, best), hn::IsNaN(x)), x, best);
}

// kVectors vectors of channels of one window; `count` is the channels left, of which the last vector may use fewer.
template <bool kMax, int kVectors, bool kPartial>
HWY_INLINE void pool(const Window& w, const float* in, float* out, int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::FirstN(d, static_cast<size_t>(kPartial ? count : lanes));
  V total[kVectors];
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    total[j] = hn::Set(d, kMax ? -std::numeric_limits<float>::infinity() : 0.0F);
  }
  for (int64_t z = 0; z < w.count[0]; ++z) {
    for (int64_t y = 0; y < w.count[1]; ++y) {
      const float* from = in + z * w.step[0] + y * w.step[1];
      // Averages sum each line by itself: rounding grows with the sides of a window, not with its area.
      V line[kVectors];
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        line[j] = kMax ? total[j] : hn::Zero(d);
      }
      for (int64_t x = 0; x < w.count[2]; ++x) {
#pragma GCC unroll 8
        for (int j = 0; j < kVectors; ++j) {
          const V value = kPartial ? hn::MaskedLoad(mask, d, from) : hn::LoadU(d, from + j * lanes);
          line[j] = kMax ? greater(line[j], value) : hn::Add(line[j], value);
        }
        from += w.step[2];
      }
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        total[j] = kMax ? line[j] : hn::Add(total[j], line[j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    const V value = kMax ? total[j] : hn::Div(total[j], hn::Set(d, w.divisor));
    if (kPartial) {
      hn::BlendedStore(value, mask, d, out);
    } else {
      hn::StoreU(value, d, out + j * lanes);
    }
  }
}

template <bool kMax>
void poolWindow(const Window& w, const float* in, float* out, int64_t channels) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) {
    pool<kMax, 4, false>(w, in + c, out + c, channels - c);
  }
  for (; c + lanes <= channels; c += lanes) {
    pool<kMax, 1, false>(w, in + c, out + c, channels - c);
  }
  if (c < channels) {
    pool<kMax, 1, true>(w, in + c, out + c, channels - c);
  }
}

WindowFunction functionForTarget(bool is_max) {
  return is_max ? poolWindow<true> : poolWindow<false>;
}

}  // namespace
}  // namespace torchtrt::kernels::pooling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/convolution/geometry.h"
#include "kernels/parallel.h"
#include "kernels/pooling/fast.h"

namespace torchtrt::kernels::pooling {
namespace {

HWY_EXPORT(functionForTarget);

using convolution::Image;
using convolution::imageOf;

struct Config {
  bool is_max = true;
  bool is_adaptive = false;
  std::vector<int64_t> window, stride, pre_padding, post_padding, dilation;  // empty when adaptive
  bool count_include_pad = true;
  int64_t divisor = 0;
};

// The window along one axis: `count` positions from `first`, `step` apart; `padded` is its length with padding.
struct Span {
  int64_t first = 0;
  int64_t count = 1;
  int64_t step = 1;
  int64_t padded = 1;
};

std::vector<Span> fixedSpans(const Config& config, size_t axis, int64_t in, int64_t out) {
  std::vector<Span> spans;
  const int64_t step = config.dilation[axis];
  const int64_t reach = (config.window[axis] - 1) * step + 1;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t start = i * config.stride[axis] - config.pre_padding[axis];
    const int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
    const int64_t first = start + skipped * step;
    const int64_t end = std::min(start + reach, in);
    const int64_t count = first < end ? (end - first + step - 1) / step : 0;
    spans.push_back({first, count, step, std::min(start + reach, in + config.post_padding[axis]) - start});
  }
  return spans;
}

std::vector<Span> adaptiveSpans(int64_t in, int64_t out) {
  std::vector<Span> spans;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t first = i * in / out;
    const int64_t count = ((i + 1) * in + out - 1) / out - first;
    spans.push_back({first, count, 1, count});
  }
  return spans;
}

class HighwayPooling final : public Prepared {
 public:
  HighwayPooling(const Config& config, const ShapeSet& shapes)
      : config_(config),
        in_(imageOf(shapes.inputs[0])),
        out_(imageOf(shapes.outputs[0])),
        function_(HWY_DYNAMIC_DISPATCH(functionForTarget)(config.is_max)) {
    const size_t rank = shapes.outputs[0].dims.size() - 2;
    for (size_t axis = 0; axis < rank; ++axis) {
      const size_t slot = 3 - rank + axis;
      spans_[slot] = config.is_adaptive ? adaptiveSpans(in_.size[slot], out_.size[slot])
                                        : fixedSpans(config, axis, in_.size[slot], out_.size[slot]);
      for (const Span& span : spans_[slot]) {
        largest_[slot] = std::max(largest_[slot], span.count);
      }
    }
  }

  void run(const RunArgs& args) const override {
    const int64_t pixels = out_.batch * out_.pixels();
    // Where there are few pixels (global pooling), channels are shared out, in parts of whole cache lines.
    const bool split = pixels < 4 * args.threads;
    const int64_t part = split ? kPart : std::max<int64_t>(out_.channels, 1);
    const int64_t parts = (out_.channels + part - 1) / part;
    const int64_t cost = part * largest_[0] * largest_[1] * largest_[2];
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(cost, 1));
    parallelFor(args.threads, 0, pixels * parts, grain, [&](int64_t begin, int64_t end) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t channel = unit % parts * part;
        runPixel(args, unit / parts, channel, std::min(part, out_.channels - channel));
      }
    });
  }

 private:
  static constexpr int64_t kPart = 64;
  static constexpr int64_t kGrain = 32768;  // additions worth a thread

  void runPixel(const RunArgs& args, int64_t pixel, int64_t channel, int64_t channels) const {
    Window window;
    const float* in = static_cast<const float*>(args.inputs[0]) + channel;
    float* out = static_cast<float*>(args.outputs[0]) + channel;
    int64_t elements = 1;
    int64_t padded = 1;
    for (size_t i = 3; i-- > 0;) {
      const int64_t index = pixel % out_.size[i];
      pixel /= out_.size[i];
      const Span& span = spans_[i][static_cast<size_t>(index)];
      window.count[i] = span.count;
      window.step[i] = span.step * in_.stride[i];
      elements *= span.count;
      padded *= span.padded;
      in += span.first * in_.stride[i];
      out += index * out_.stride[i];
    }
    const int64_t divisor = config_.divisor != 0 ? config_.divisor : config_.count_include_pad ? padded : elements;
    // A window without elements averages to 0.
    window.divisor = elements == 0 ? 1.0F : static_cast<float>(divisor);
    function_(window, in + pixel * in_.batch_stride, out + pixel * out_.batch_stride, channels);
  }

  Config config_;
  Image in_, out_;
  WindowFunction function_;
  std::array<std::vector<Span>, 3> spans_ = {std::vector<Span>{Span{}}, std::vector<Span>{Span{}},
                                             std::vector<Span>{Span{}}};
  convolution::Spatial largest_ = {1, 1, 1};
};

class HighwayPoolingKernel final : public Kernel {
 public:
  explicit HighwayPoolingKernel(Config config) : config_(std::move(config)) {}
  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<HighwayPooling>(config_, shapes);
  }
  bool acceptsStrides(int, const TensorDesc& desc) const override {
    return desc.strides[1] == 1;
  }

 private:
  Config config_;
};

std::optional<Refusal> refuse(const Problem& problem, size_t spatial) {
  const Operand& in = problem.inputs[0];
  if (in.dtype != DType::kFloat32) {
    return Refusal{"dtype", std::string("computes float32 only, not ") + toString(in.dtype)};
  }
  if (problem.outputs.size() > 1) {
    return Refusal{"indices", "does not return indices"};
  }
  if (in.dims.size() != spatial + 2 || spatial > 3) {
    return Refusal{"rank", "pools the dimensions behind batch and channels only"};
  }
  if (!convolution::isChannelsLast(in) || !convolution::isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  return std::nullopt;
}

}  // namespace

CreateResult createHighway(const Problem& problem) {
  const Attributes& attributes = *problem.attributes;
  Config config;
  config.is_max = attributes.getString("op") == "max";
  config.window = attributes.getInts("window");
  config.stride = attributes.getInts("stride");
  config.pre_padding = attributes.getInts("pre_padding");
  config.post_padding = attributes.getInts("post_padding");
  config.dilation = attributes.getInts("dilation");
  config.count_include_pad = attributes.getBool("count_include_pad", true);
  config.divisor = attributes.getInt("divisor", 0);
  if (std::optional<Refusal> refusal = refuse(problem, config.window.size())) {
    return *refusal;
  }
  return std::make_unique<HighwayPoolingKernel>(std::move(config));
}

CreateResult createAdaptiveHighway(const Problem& problem) {
  Config config;
  config.is_max = problem.attributes->getString("op") == "max";
  config.is_adaptive = true;
  // How many dims are pooled is known at run time only; a channels-last order says that they are all behind the
  // channels.
  const size_t rank = problem.outputs[0].dims.size();
  if (convolution::isRowMajor(problem.inputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  if (std::optional<Refusal> refusal = refuse(problem, rank < 3 ? 0 : rank - 2)) {
    return *refusal;
  }
  return std::make_unique<HighwayPoolingKernel>(std::move(config));
}

}  // namespace torchtrt::kernels::pooling
#endif  // HWY_ONCE
