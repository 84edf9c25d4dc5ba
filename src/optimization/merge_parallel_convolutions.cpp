#include <algorithm>
#include <cmath>

#include "optimization/affine.h"
#include "optimization/passes.h"

namespace torchtrt::optimization {

namespace {

using namespace rewriting;

// A convolution with constant weights that nothing but the sum reads.
struct Branch {
  WeightedLayer weighted;
  std::vector<int64_t> kernel, stride, dilation, pre_padding;  // of the spatial axes
  int64_t groups, taps;
};

std::optional<Branch> asBranch(const Tensor* tensor) {
  const auto weighted = asAbsorbing(tensor);
  if (!weighted || weighted->layer->getType() != LayerType::kCONVOLUTION) {
    return std::nullopt;
  }
  const Attributes& attributes = weighted->layer->attributes();
  const std::vector<int64_t>& dims = weighted->kernel->dims;
  Branch branch{*weighted,
                {dims.begin() + 2, dims.end()},
                attributes.getInts("stride"),
                attributes.getInts("dilation"),
                attributes.getInts("pre_padding"),
                attributes.getInt("groups", 1),
                1};
  for (const int64_t size : branch.kernel) {
    branch.taps *= size;
  }
  return branch;
}

// The taps of the host's kernel, counted row-major, that read the elements which the taps of another kernel read.
// Nothing where one of those falls beside the host's.
std::optional<std::vector<int64_t>> tapsWithin(const Branch& host, const std::vector<int64_t>& kernel,
                                               const std::vector<int64_t>& dilation,
                                               const std::vector<int64_t>& pre_padding) {
  std::vector<int64_t> taps = {0};
  for (size_t axis = 0; axis < kernel.size(); ++axis) {
    std::vector<int64_t> longer;
    for (const int64_t before : taps) {
      for (int64_t tap = 0; tap < kernel[axis]; ++tap) {
        const int64_t offset = host.pre_padding[axis] - pre_padding[axis] + tap * dilation[axis];
        const int64_t within = offset / host.dilation[axis];
        if (offset < 0 || offset % host.dilation[axis] != 0 || within >= host.kernel[axis]) {
          return std::nullopt;
        }
        longer.push_back(before * host.kernel[axis] + within);
      }
    }
    taps = std::move(longer);
  }
  return taps;
}

// A weight of the host's kernel and what is added to it.
struct Summand {
  int64_t index;
  double value;
};

// The host's kernel plus what `forEach(visit)` gives; nothing if a finite weight becomes an infinite one.
template <typename T, typename ForEach>
std::optional<Weights> kernelPlus(const Weights& kernel, const ForEach& forEach) {
  void* memory = nullptr;
  Weights sum = Weights::allocate(kernel.dtype, kernel.dims, &memory);
  T* to = static_cast<T*>(memory);
  std::copy_n(kernel.as<T>(), kernel.count(), to);
  bool finite = true;
  forEach([&](const Summand& summand) {
    const T before = to[summand.index];
    to[summand.index] = static_cast<T>(static_cast<double>(before) + summand.value);
    finite = finite && (std::isfinite(to[summand.index]) || !std::isfinite(before));
  });
  return finite ? std::optional(sum) : std::nullopt;
}

template <typename T>
std::optional<Weights> plusKernel(const Branch& host, const Branch& other, const std::vector<int64_t>& taps) {
  return kernelPlus<T>(*host.weighted.kernel, [&](const auto& add) {
    const T* from = other.weighted.kernel->as<T>();
    const auto count = static_cast<int64_t>(other.weighted.kernel->count());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t tap = taps[static_cast<size_t>(i % other.taps)];
      add(Summand{i / other.taps * host.taps + tap, static_cast<double>(from[i])});
    }
  });
}

// The kernel whose tap `tap` multiplies each channel of the operand with a scale and adds it to the same one of the
// output.
template <typename T>
std::optional<Weights> plusDiagonal(const Branch& host, const std::vector<double>& scale, int64_t tap) {
  return kernelPlus<T>(*host.weighted.kernel, [&](const auto& add) {
    const int64_t channels = host.weighted.inputs / host.groups;  // of a group
    for (int64_t channel = 0; channel < host.weighted.outputs; ++channel) {
      const int64_t pair = channel * channels + channel % channels;
      add(Summand{pair * host.taps + tap, scale[static_cast<size_t>(channel)]});
    }
  });
}

// The host with this kernel and with `shift` on top of its bias, in the place of the sum. False, and no edit, where
// weights overflow.
bool replaceSum(Rewriter& rewriter, Layer& sum, const Branch& host, const std::optional<Weights>& kernel,
                const std::vector<double>& shift) {
  if (!kernel) {
    return false;
  }
  WeightedLayer merged = host.weighted;
  for (size_t i = 0; i < shift.size(); ++i) {
    merged.bias[i] += shift[i];
    merged.has_bias = merged.has_bias || shift[i] != 0.0;
  }
  Layer* layer = createWithWeights(rewriter, merged, *host.weighted.layer->getInput(0), &*kernel);
  if (!layer) {
    return false;
  }
  copyActivation(rewriter, sum, *layer);
  rewriter.replaceLayer(sum, {layer->getOutput(0)});
  return true;
}

bool isFloat32(const Branch& branch) {
  return branch.weighted.kernel->dtype == DType::kFloat32;
}

// convolution(x, w) + convolution(x, v) -> convolution(x, w + v), where the taps of v are among those of w: networks
// that train several branches and run their sum, as RepVGG and MobileOne do.
bool mergeConvolutions(Rewriter& rewriter, Layer& sum, const Branch& host, const Branch& other) {
  if (host.weighted.layer->getInput(0) != other.weighted.layer->getInput(0) || host.stride != other.stride ||
      host.groups != other.groups || host.weighted.kernel->dtype != other.weighted.kernel->dtype) {
    return false;
  }
  const auto taps = tapsWithin(host, other.kernel, other.dilation, other.pre_padding);
  return taps &&
         replaceSum(rewriter, sum, host,
                    isFloat32(host) ? plusKernel<float>(host, other, *taps) : plusKernel<double>(host, other, *taps),
                    other.weighted.bias);
}

// convolution(x, w) + (s x + t) -> convolution(x, w + s at the tap that reads the element itself). Where nothing
// multiplies x that is a residual, which is as good, except for depthwise convolutions: their kernels take none.
bool mergeAffine(Rewriter& rewriter, Layer& sum, const Branch& host, Tensor* other) {
  const WeightedLayer& weighted = host.weighted;
  Tensor* x = weighted.layer->getInput(0);
  const auto channels = static_cast<size_t>(weighted.outputs);
  Affine affine{std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)};
  if (other != x) {
    const Layer* producer = other->producer();
    const bool is_own =
        producer && m::countUses(*other) == 1 && producer->attributes().getString("activation", "").empty();
    const auto found = is_own ? asAffine(*producer, 1) : std::nullopt;
    if (!found || found->input != x) {
      return false;
    }
    affine = found->affine;
  } else if (host.groups == 1 || host.groups != weighted.inputs) {
    return false;
  }
  const std::vector<int64_t> ones(host.kernel.size(), 1);
  const std::vector<int64_t> zeros(host.kernel.size(), 0);
  if (weighted.inputs != weighted.outputs || host.stride != ones) {
    return false;
  }
  const auto taps = tapsWithin(host, ones, ones, zeros);
  return taps && replaceSum(rewriter, sum, host,
                            isFloat32(host) ? plusDiagonal<float>(host, affine.scale, taps->front())
                                            : plusDiagonal<double>(host, affine.scale, taps->front()),
                            affine.shift);
}

class MergeParallelConvolutions : public PatternRewriter {
 public:
  MergeParallelConvolutions() : PatternRewriter("merge_parallel_convolutions", {LayerType::kELEMENTWISE}) {}

  bool matchAndRewrite(Layer& layer, Rewriter& rewriter) override {
    if (layer.attributes().getString("op") != "sum") {
      return false;
    }
    if (!(layer.getInput(0)->getDimensions() == layer.getInput(1)->getDimensions())) {
      return false;
    }
    for (int operand = 0; operand < 2; ++operand) {
      const auto host = asBranch(layer.getInput(operand));
      if (!host) {
        continue;
      }
      Tensor* beside = layer.getInput(1 - operand);
      const auto other = asBranch(beside);
      if (other ? mergeConvolutions(rewriter, layer, *host, *other) : mergeAffine(rewriter, layer, *host, beside)) {
        return true;
      }
    }
    return false;
  }
};

}  // namespace

PassPtr createMergeParallelConvolutions(const Options&) {
  auto pass = std::make_unique<PatternPass>("merge_parallel_convolutions");
  pass->add<MergeParallelConvolutions>();
  return pass;
}

}  // namespace torchtrt::optimization
