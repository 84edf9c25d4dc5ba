#include "engine/fusion/candidates.h"

#include <algorithm>

#include "engine/loading/model.h"
#include "kernels/fusion.h"

namespace torchtrt::engine {
namespace {

// Candidates::reads.
std::vector<int> countReads(const plan::Plan& plan) {
  std::vector<int> reads(plan.tensors.size(), 0);
  const auto read = [&](int32_t tensor) {
    if (tensor >= 0) {
      ++reads[static_cast<size_t>(tensor)];
    }
  };
  for (const plan::Step& step : plan.steps) {
    std::for_each(step.inputs.begin(), step.inputs.end(), read);
  }
  for (const plan::Binding& output : plan.outputs) {
    read(output.tensor);
  }
  for (const plan::Tensor& tensor : plan.tensors) {
    read(tensor.view_of);
  }
  return reads;
}

bool isMultiplication(const plan::Step& step) {
  return step.family == "elementwise" && step.inputs.size() == 2 && step.outputs.size() == 1 &&
         step.attributes.getString("op") == "prod" && step.attributes.getString("activation", "").empty();
}

bool isAverage(const plan::Step& step) {
  return step.family == "adaptive_pooling" && step.outputs.size() == 1 && step.attributes.getString("op") == "average";
}

bool isMaximumOfFour(const plan::Step& step) {
  const auto are = [&](const char* name, int64_t value) {
    return step.attributes.getInts(name, {}) == std::vector<int64_t>{value, value};
  };
  return step.family == "pooling" && step.outputs.size() == 1 && step.attributes.getString("op") == "max" &&
         are("window", 2) && are("stride", 2) && are("dilation", 1) && are("pre_padding", 0) && are("post_padding", 0);
}

bool isFloat32(const plan::Plan& plan, const plan::Step& step) {
  const auto holds = [&](int32_t tensor) {
    return tensor >= 0 && plan.tensors[static_cast<size_t>(tensor)].dtype == DType::kFloat32;
  };
  return std::all_of(step.inputs.begin(), step.inputs.end(), holds) && holds(step.outputs[0]);
}

class Finder {
 public:
  Finder(const plan::Plan& plan, const std::vector<LoadedStep>& steps, RuleSet rules)
      : plan_(plan), steps_(steps), rules_(rules), makers_(plan.tensors.size(), -1) {
    found_.scaled_by = found_.lines_for = found_.averaged_by = found_.pooled_by =
        std::vector<int32_t>(steps.size(), -1);
    found_.reads = countReads(plan);
  }

  Candidates run() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      findScaled(index);
      findLines(index);
      findAveraged(index);
      findPooled(index);
      for (const int32_t output : plan_.steps[i].outputs) {
        makers_[static_cast<size_t>(output)] = index;
      }
    }
    return std::move(found_);
  }

 private:
  const plan::Step& stepOf(int32_t index) const {
    return plan_.steps[static_cast<size_t>(index)];
  }
  template <typename Interface>
  bool is(int32_t index) const {
    return index >= 0 && dynamic_cast<const Interface*>(steps_[static_cast<size_t>(index)].kernel.get()) != nullptr;
  }
  // The step that makes the first operand as its first output, or -1.
  int32_t makerOf(int32_t index) const {
    const plan::Step& step = stepOf(index);
    const int32_t tensor = step.inputs.empty() ? -1 : step.inputs[0];
    const int32_t maker = tensor < 0 ? -1 : makers_[static_cast<size_t>(tensor)];
    return maker >= 0 && stepOf(maker).outputs[0] == tensor ? maker : -1;
  }
  bool isReadOnce(int32_t index) const {
    return found_.reads[static_cast<size_t>(stepOf(index).outputs[0])] == 1;
  }

  void findScaled(int32_t index) {
    const int32_t maker = makerOf(index);
    if (rules_.has(Rule::kScaleInput) && is<kernels::ScalesInput>(index) && maker >= 0 && isReadOnce(maker) &&
        isMultiplication(stepOf(maker)) && isFloat32(plan_, stepOf(maker))) {
      found_.scaled_by[static_cast<size_t>(maker)] = index;
    }
  }

  void findLines(int32_t index) {
    const int32_t maker = makerOf(index);
    if (rules_.has(Rule::kDepthwiseLines) && is<kernels::ReadsPixels>(index) && is<kernels::ComputesPixels>(maker) &&
        isReadOnce(maker)) {
      found_.lines_for[static_cast<size_t>(maker)] = index;
    }
  }

  void findAveraged(int32_t index) {
    const int32_t maker = makerOf(index);
    if (rules_.has(Rule::kAverageOutput) && isAverage(stepOf(index)) && isFloat32(plan_, stepOf(index)) &&
        is<kernels::AveragesOutput>(maker) && found_.averaged_by[static_cast<size_t>(maker)] < 0) {
      found_.averaged_by[static_cast<size_t>(maker)] = index;
    }
  }

  void findPooled(int32_t index) {
    const int32_t maker = makerOf(index);
    if (rules_.has(Rule::kPoolOutput) && isMaximumOfFour(stepOf(index)) && is<kernels::PoolsOutput>(maker) &&
        isReadOnce(maker)) {
      found_.pooled_by[static_cast<size_t>(maker)] = index;
    }
  }

  const plan::Plan& plan_;
  const std::vector<LoadedStep>& steps_;
  RuleSet rules_;
  std::vector<int32_t> makers_;  // per tensor: the step that makes it, of those seen so far
  Candidates found_;
};

}  // namespace

Candidates findCandidates(const plan::Plan& plan, const std::vector<LoadedStep>& steps, RuleSet rules) {
  return Finder(plan, steps, rules).run();
}

}  // namespace torchtrt::engine
