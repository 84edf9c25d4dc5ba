// A deconvolution as the convolutions it consists of, channels-last: output pixels whose places are equal modulo the
// stride are sums over the same taps of the kernel, and neighbours among them read neighbouring pixels. So each such
// phase is a convolution with stride 1 and a smaller kernel, which writes every stride-th pixel.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/convolution/choice.h"
#include "cpu/convolution/direct/few_outputs.h"
#include "cpu/convolution/fast.h"
#include "cpu/convolution/gemm/implicit_gemm.h"
#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {
namespace {

using gemm::PackedB;

struct Phase {
  Spatial first;  // output pixel
  std::shared_ptr<const PackedConvolution> product;
  std::shared_ptr<const PackedFewOutputs> few_outputs;  // instead, where that is faster
};

struct PackedPhases {
  Spatial stride;
  std::vector<Phase> phases;
};

class Phases final : public Prepared {
 public:
  Phases(const PackedPhases& packed, const ShapeSet& shapes) {
    const TensorDesc& output = shapes.outputs[0];
    const size_t rank = output.dims.size() - 2;
    for (const Phase& phase : packed.phases) {
      ShapeSet part = shapes;
      TensorDesc& pixels = part.outputs[0];
      Part made;
      for (size_t i = 0; i < rank; ++i) {
        const size_t axis = 3 - rank + i;
        const int64_t stride = packed.stride[axis];
        const int64_t left = std::max<int64_t>(output.dims[i + 2] - phase.first[axis], 0);
        pixels.dims[i + 2] = (left + stride - 1) / stride;
        pixels.strides[i + 2] = output.strides[i + 2] * stride;
        made.offset += phase.first[axis] * output.strides[i + 2];
      }
      if (std::find(pixels.dims.begin(), pixels.dims.end(), 0) == pixels.dims.end()) {
        made.convolution =
            phase.few_outputs ? prepareFewOutputs(phase.few_outputs, part) : prepareImplicitGemm(phase.product, part);
        parts_.push_back(std::move(made));
      }
    }
  }

  size_t heldBytes() const override {
    size_t bytes = 0;
    for (const Part& part : parts_) {
      bytes += sizeof(Part) + part.convolution->heldBytes();
    }
    return bytes;
  }

  void run(const RunArgs& args) const override {
    for (const Part& part : parts_) {
      void* output = static_cast<float*>(args.outputs[0]) + part.offset;
      RunArgs own = args;
      own.outputs = &output;
      part.convolution->run(own);
    }
  }

 private:
  struct Part {
    int64_t offset = 0;  // of its first pixel in the output
    std::unique_ptr<Prepared> convolution;
  };
  std::vector<Part> parts_;
};

class PhasesKernel final : public Kernel {
 public:
  explicit PhasesKernel(PackedPhases packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<Phases>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    size_t bytes = 0;
    for (const Phase& phase : packed_.phases) {
      bytes += phase.few_outputs ? bytesOf(*phase.few_outputs) : 0;
      for (size_t group = 0; phase.product && group < phase.product->groups.size(); ++group) {
        bytes += phase.product->groups[group].bytes();
      }
    }
    return bytes;
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    return input == 0 && (desc.dims[1] == 1 || desc.strides[1] == 1);
  }

 private:
  PackedPhases packed_;
};

// Returns the index of a phase's tap among the taps of the whole filter: those that are `stride` apart, last first.
int64_t placeOf(const Geometry& whole, const Geometry& part, const Spatial& first_tap, int64_t tap) {
  Spatial at{};
  for (size_t i = 3; i-- > 0;) {
    at[i] = first_tap[i] + (part.kernel[i] - 1 - tap % part.kernel[i]) * whole.stride[i];
    tap /= part.kernel[i];
  }
  return (at[0] * whole.kernel[1] + at[1]) * whole.kernel[2] + at[2];
}

// A group's kernel of one phase, from [channels, outputs / groups, taps].
PackedB packGroup(const Geometry& whole, const Geometry& part, const Spatial& first_tap, int64_t group, int threads) {
  const int64_t channels = whole.channels / whole.groups;
  const int64_t outputs = whole.outputs / whole.groups;
  const auto row = [&](int64_t k) {
    return whole.weights + (group * channels + k % channels) * outputs * whole.taps() +
           placeOf(whole, part, first_tap, k / channels);
  };
  return {channels * part.taps(), outputs, whole.taps(), row, threads};
}

// The phase whose first tap in each dimension is `first_tap`, less than the stride.
Phase makePhase(const Geometry& whole, const Spatial& first_tap, int threads) {
  Phase phase{};
  Geometry part = whole;
  part.stride = {1, 1, 1};
  for (size_t i = 0; i < 3; ++i) {
    const int64_t stride = whole.stride[i];
    const int64_t padding = whole.pre_padding[i];
    // Output pixel o reads pixel (o + padding - tap) / stride by each tap for which that is whole.
    phase.first[i] = ((first_tap[i] - padding) % stride + stride) % stride;
    part.kernel[i] = (whole.kernel[i] - first_tap[i] + stride - 1) / stride;
    part.pre_padding[i] = part.kernel[i] - 1 - (phase.first[i] + padding - first_tap[i]) / stride;
  }
  if (isFasterWithFewOutputs(part)) {
    phase.few_outputs = packFewOutputs(part, [&](int64_t output, int64_t channel, int64_t tap) {
      return whole.weights[(channel * whole.outputs + output) * whole.taps() + placeOf(whole, part, first_tap, tap)];
    });
    return phase;
  }
  auto packed = std::make_shared<PackedConvolution>();
  packed->geometry = part;
  packed->geometry.weights = nullptr;  // the original may be released
  packed->taps = part.taps();
  packed->run = part.channels / part.groups;
  for (int64_t group = 0; group < part.groups; ++group) {
    packed->groups.push_back(packGroup(whole, part, first_tap, group, threads));
  }
  packed->zeros.assign(static_cast<size_t>(packed->run), 0.0F);
  packed->epilogue = gemm::makeEpilogue(part.activation, part.alpha, part.beta);
  packed->functions = gemm::functions();
  phase.product = std::move(packed);
  return phase;
}

}  // namespace

CreateResult createPhases(const Problem& problem) {
  const std::variant<Geometry, Refusal> described = describeTransposed(problem);
  if (const Refusal* refusal = std::get_if<Refusal>(&described)) {
    return *refusal;
  }
  const Geometry& g = std::get<Geometry>(described);
  if (!isChannelsLast(problem.inputs[0]) || !isChannelsLast(problem.outputs[0])) {
    return Refusal{"memory-order", "reads and writes channels-last only"};
  }
  if (g.has_residual) {
    return Refusal{"residual", "has no residual operand"};
  }
  if (g.dilation != Spatial{1, 1, 1}) {
    return Refusal{"dilation", "takes undilated kernels only"};
  }
  if (g.groups > 1 && g.outputs / g.groups < 8) {
    return Refusal{"narrow-groups", "takes groups of 8 outputs or more: fewer leave most of each vector empty"};
  }
  for (size_t i = 0; i < 3; ++i) {
    if (g.kernel[i] < g.stride[i]) {
      return Refusal{"gaps", "needs a kernel that is as large as the stride"};
    }
  }
  if (g.taps() > kMaxTaps) {
    return Refusal{"large-kernel", "keeps the pointers of a tile on the stack, and there would be too many"};
  }
  PackedPhases packed;
  packed.stride = g.stride;
  Spatial tap{};
  for (tap[0] = 0; tap[0] < g.stride[0]; ++tap[0]) {
    for (tap[1] = 0; tap[1] < g.stride[1]; ++tap[1]) {
      for (tap[2] = 0; tap[2] < g.stride[2]; ++tap[2]) {
        packed.phases.push_back(makePhase(g, tap, problem.threads));
      }
    }
  }
  return std::make_unique<PhasesKernel>(std::move(packed));
}

}  // namespace torchtrt::kernels::convolution
