#include "plan/rules.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/layer_rules/kinds.h"
#include "plan/families.h"

namespace torchtrt::plan {

namespace {

using layer_rules::Number;
using layer_rules::Numbers;
using layer_rules::NumbersType;

template <typename T>
std::vector<T> resolve(const std::vector<Register>& list, std::span<const int64_t> registers) {
  std::vector<T> dims;
  dims.reserve(list.size());
  for (const Register r : list) {
    dims.push_back(registers[r]);
  }
  return dims;
}

Numbers numbers(const std::vector<Register>& list, std::span<const int64_t> registers) {
  return Numbers(resolve<Number>(list, registers));
}

NumbersType typeOfTensor(const Tensor& tensor, std::span<const int64_t> registers) {
  return {tensor.dtype, numbers(tensor.dims, registers)};
}

// A step with its numbers filled in, as rules see it.
class StepView : public layer_rules::LayerView<Number> {
 public:
  StepView(const Plan& plan, const Step& step, std::span<const int64_t> registers, ErrorCode code)
      : step_(step), code_(code) {
    for (const int32_t input : step.inputs) {
      inputs_.push_back(input < 0 ? std::nullopt
                                  : std::optional(typeOfTensor(plan.tensors[static_cast<size_t>(input)], registers)));
    }
    for (const int32_t output : step.outputs) {
      outputs_.push_back(typeOfTensor(plan.tensors[static_cast<size_t>(output)], registers));
    }
    for (const auto& [name, list] : step.dims) {
      dims_.emplace_back(name, numbers(list, registers));
    }
  }

  int operands() const override {
    return static_cast<int>(inputs_.size());
  }
  bool has(int operand) const override {
    return operand < operands() && inputs_[static_cast<size_t>(operand)].has_value();
  }
  DType dtype(int operand) const override {
    return typeOf(operand).dtype;
  }
  const Numbers& dims(int operand) const override {
    return typeOf(operand).dims;
  }
  const Attributes& attributes() const override {
    return step_.attributes;
  }
  const Numbers* findDims(std::string_view attribute) const override {
    const auto found =
        std::find_if(dims_.begin(), dims_.end(), [&](const auto& entry) { return entry.first == attribute; });
    return found == dims_.end() ? nullptr : &found->second;
  }
  std::pair<int64_t, int64_t> range(const Number& dim) const override {
    return {dim.clamped(), dim.clamped()};
  }

  // Throws unless the step keeps the rules of its kind, and its operands and outputs are there and of their types.
  void check() const {
    const auto* const kind = layer_rules::findKind<Number>(step_.family);
    if (kind == nullptr) {
      TORCHTRT_CHECK(step_.family == "plugin_v2", "family " << step_.family << " has no rules");
      return;
    }
    for (const auto& rule : kind->rules) {
      const layer_rules::Problem problem = rule.check(*this);
      if (problem.is_unknown_word) {
        throwUnknown(step_, "(" + step_.family + ") has the " + problem.damage);
      }
      require(!problem, problem.damage.c_str());
    }
    const FamilySpec& family = *findFamilySpec(step_.family);
    for (int i = 0; i < (family.max_operands < 0 ? operands() : family.min_operands); ++i) {
      require(has(i), "an operand is missing");
    }
    const std::vector<NumbersType> expected = kind->outputs(*this);
    require(outputs_.size() >= expected.size(), "an output is missing");
    require(outputs_.size() == expected.size(), "it has a wrong number of outputs");
    for (size_t i = 0; i < expected.size(); ++i) {
      require(outputs_[i].dims == expected[i].dims, "the dimensions of an output are not those of the result");
      require(outputs_[i].dtype == expected[i].dtype, "the element type of an output is not that of the result");
    }
  }

 private:
  const NumbersType& typeOf(int operand) const {
    require(has(operand), "an operand is missing");
    return *inputs_[static_cast<size_t>(operand)];
  }

  void require(bool holds, const char* rule) const {
    if (holds) {
      return;
    }
    const bool corrupt = code_ == ErrorCode::kPlanCorrupt;
    throw EngineError(
        code_, (corrupt ? "damaged plan: step '" : "step '") + step_.name + "' (" + step_.family + "): " + rule,
        step_.location,
        corrupt ? "compile the module again, or copy the file again" : "pass inputs of shapes that fit together");
  }

  const Step& step_;
  ErrorCode code_;
  std::vector<std::optional<NumbersType>> inputs_;
  std::vector<NumbersType> outputs_;
  std::vector<std::pair<std::string, Numbers>> dims_;
};

}  // namespace

void checkShapes(const Plan& plan, std::span<const int64_t> registers, ErrorCode code) {
  for (const Tensor& tensor : plan.tensors) {
    const std::vector<int64_t> dims = resolve<int64_t>(tensor.dims, registers);
    const size_t bytes = checkedBytes(dims, tensor.dtype);
    if (tensor.view_of >= 0) {
      const Tensor& base = plan.tensors[static_cast<size_t>(tensor.view_of)];
      const std::vector<int64_t> base_dims = resolve<int64_t>(base.dims, registers);
      if (bytes != checkedBytes(base_dims, base.dtype)) {
        throw EngineError(code,
                          "tensor '" + tensor.name + "' views a tensor of another number of elements: " +
                              layer_rules::textOf(dims) + " of '" + base.name + "' " + layer_rules::textOf(base_dims),
                          {}, "pass inputs of shapes that fit together");
      }
    }
  }
  for (const Step& step : plan.steps) {
    StepView(plan, step, registers, code).check();
  }
}

}  // namespace torchtrt::plan
