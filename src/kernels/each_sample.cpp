#include "kernels/each_sample.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/real_time.h"
#include "kernels/restores.h"

namespace torchtrt::kernels {
namespace {

constexpr std::array kFamilies = {"convolution", "deconvolution", "quantized_convolution"};
constexpr size_t kMostInputs = 5;  // of these families
constexpr size_t kImage = 0;
constexpr size_t kResidual = 3;
constexpr size_t kIntegerResidual = 4;  // behind the scales

bool hasSamples(const Problem& problem) {
  return std::find(kFamilies.begin(), kFamilies.end(), problem.family) != kFamilies.end();
}

bool isPerSample(const Problem& problem, size_t input) {
  return input == kImage || input == (problem.family == "quantized_convolution" ? kIntegerResidual : kResidual);
}

struct SamplesOf {
  size_t operand;
  size_t step;  // bytes from one sample to the next
};

// Runs a kernel that was prepared for one sample once for each.
class PreparedEachSample final : public Prepared {
 public:
  PreparedEachSample(const Kernel& kernel, ShapeSet shapes, const std::vector<size_t>& inputs)
      : count_(shapes.outputs[0].dims[0]), input_count_(shapes.inputs.size()) {
    for (const size_t input : inputs) {
      inputs_.push_back(takeOne(input, shapes.inputs[input]));
    }
    output_ = takeOne(0, shapes.outputs[0]);
    if (count_ != 0) {
      inner_ = kernel.prepare(shapes);
    }
  }

  void begin() const override {
    if (inner_ != nullptr) {
      inner_->begin();
    }
  }
  void complete() const override {
    if (inner_ != nullptr) {
      inner_->complete();
    }
  }
  void run(const RunArgs& args) const override {
    std::array<const void*, kMostInputs> inputs;
    std::copy_n(args.inputs, input_count_, inputs.begin());
    void* output = args.outputs[0];
    RunArgs one = args;
    one.inputs = inputs.data();
    one.outputs = &output;
    for (int64_t sample = 0; sample < count_; ++sample) {
      inner_->run(one);
      one.is_fenced = true;  // scratch memory serves one sample at a time
      for (const SamplesOf& samples : inputs_) {
        const void*& input = inputs[samples.operand];
        input = input == nullptr ? nullptr : static_cast<const std::byte*>(input) + samples.step;
      }
      output = static_cast<std::byte*>(output) + output_.step;
    }
  }
  bool isRecordable() const override {
    return inner_ == nullptr || inner_->isRecordable();
  }
  bool readsAhead(size_t input) const override {
    return inner_ != nullptr && inner_->readsAhead(input);
  }
  size_t scratchBytes() const override {
    return inner_ == nullptr ? 0 : inner_->scratchBytes();
  }
  size_t heldBytes() const override {
    return inner_ == nullptr ? 0 : inner_->heldBytes();
  }

 private:
  static SamplesOf takeOne(size_t operand, TensorDesc& desc) {
    const size_t step = static_cast<size_t>(desc.strides[0]) * sizeOf(desc.dtype);
    desc.dims[0] = 1;
    return {operand, step};
  }

  int64_t count_;
  size_t input_count_;
  std::vector<SamplesOf> inputs_;
  SamplesOf output_{};
  std::unique_ptr<Prepared> inner_;  // null for an empty batch
};

class KernelEachSample final : public Kernel, public MayAllocate, public RestoresConstants {
 public:
  KernelEachSample(std::unique_ptr<Kernel> kernel, std::vector<size_t> inputs)
      : kernel_(std::move(kernel)),
        restores_(dynamic_cast<const RestoresConstants*>(kernel_.get())),
        inputs_(std::move(inputs)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<PreparedEachSample>(*kernel_, shapes, inputs_);
  }
  bool needsConstant(int input) const override {
    return kernel_->needsConstant(input);
  }
  size_t packedBytes() const override {
    return kernel_->packedBytes();
  }
  bool runsEachSample() const override {
    return true;
  }
  bool mayAllocate() const override {
    return kernels::mayAllocate(*kernel_);
  }
  bool restores(int input) const override {
    return restores_ != nullptr && restores_->restores(input);
  }
  void restore(int input, void* to, int threads) const override {
    restores_->restore(input, to, threads);
  }
  bool acceptsStrides(int input, const TensorDesc& desc) const override {
    TensorDesc one = desc;
    if (!one.dims.empty() && std::find(inputs_.begin(), inputs_.end(), static_cast<size_t>(input)) != inputs_.end()) {
      one.dims[0] = 1;
    }
    return kernel_->acceptsStrides(input, one);
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  const RestoresConstants* restores_;  // the kernel, or null
  std::vector<size_t> inputs_;         // those that have a part for each sample
};

}  // namespace

std::optional<Problem> withOneSample(const Problem& problem) {
  if (!hasSamples(problem)) {
    return std::nullopt;
  }
  Problem one = problem;
  const auto take = [](Operand& operand) {
    if (operand.present) {
      operand.dims[0] = operand.opt_dims[0] = 1;
    }
  };
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    if (isPerSample(problem, i)) {
      take(one.inputs[i]);
    }
  }
  take(one.outputs[0]);
  return one;
}

CreateResult createInvariant(const Implementation& implementation, const Problem& problem) {
  const std::optional<Problem> one = withOneSample(problem);
  if (implementation.leaves != nullptr) {
    if (std::optional<Refusal> refusal = implementation.leaves(one ? *one : problem)) {
      return *std::move(refusal);
    }
  }
  if (implementation.samples == Samples::kApart) {
    return implementation.create(problem);
  }
  if (!one) {
    return Refusal{"batch", "gives a sample other bits in another batch"};
  }
  CreateResult created = implementation.create(*one);
  auto* const kernel = std::get_if<std::unique_ptr<Kernel>>(&created);
  if (kernel == nullptr) {
    return created;
  }
  std::vector<size_t> inputs;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    if (problem.inputs[i].present && isPerSample(problem, i)) {
      inputs.push_back(i);
    }
  }
  return std::make_unique<KernelEachSample>(std::move(*kernel), std::move(inputs));
}

}  // namespace torchtrt::kernels
