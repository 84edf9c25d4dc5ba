#include "plan/equivalence.h"

#include <map>

namespace torchtrt::plan {

namespace {

// Numbers for what registers and tensors hold: the same for the same, in all plans that one of these numbers.
class ValueNumbers {
 public:
  std::vector<int64_t> outputsOf(const Plan& plan) {
    const std::vector<int64_t> registers = registersOf(plan);
    std::vector<int64_t> tensors(plan.tensors.size(), -1);
    for (size_t i = 0; i < plan.inputs.size(); ++i) {
      const auto tensor = static_cast<size_t>(plan.inputs[i].tensor);
      tensors[tensor] = number("input " + std::to_string(i) + typeOf(plan.tensors[tensor], registers));
    }
    for (const Step& step : plan.steps) {
      std::string made = step.family + "{" + printAttributes(step) + "}";
      for (const auto& [name, dims] : step.dims) {
        made += name + listOf(dims, registers);
      }
      for (const int32_t input : step.inputs) {
        made += " " + std::to_string(input < 0 ? -1 : tensorOf(plan, input, registers, tensors));
      }
      for (size_t i = 0; i < step.outputs.size(); ++i) {
        const auto output = static_cast<size_t>(step.outputs[i]);
        tensors[output] = number(made + " " + std::to_string(i) + typeOf(plan.tensors[output], registers));
      }
    }
    std::vector<int64_t> outputs;
    for (const Binding& output : plan.outputs) {
      outputs.push_back(tensorOf(plan, output.tensor, registers, tensors));
    }
    return outputs;
  }

 private:
  int64_t number(const std::string& key) {
    return numbers_.try_emplace(key, static_cast<int64_t>(numbers_.size())).first->second;
  }

  std::vector<int64_t> registersOf(const Plan& plan) {
    std::vector<int64_t> registers;
    for (const Instruction& instruction : plan.program) {
      std::string key = "register " + std::to_string(static_cast<int>(instruction.op)) + " ";
      if (instruction.op == Op::kConstant) {
        key += std::to_string(instruction.immediate);
      } else if (instruction.op == Op::kSymbol) {
        key += plan.symbols[instruction.a].name;
      } else {
        key += std::to_string(registers[instruction.a]) + " " + std::to_string(registers[instruction.b]);
      }
      registers.push_back(number(key));
    }
    return registers;
  }

  static std::string listOf(const std::vector<Register>& dims, const std::vector<int64_t>& registers) {
    std::string text = "[";
    for (const Register dim : dims) {
      text += std::to_string(registers[dim]) + " ";
    }
    return text + "]";
  }

  static std::string typeOf(const Tensor& tensor, const std::vector<int64_t>& registers) {
    return std::string(" ") + toString(tensor.dtype) + listOf(tensor.dims, registers) +
           std::string(tensor.order.begin(), tensor.order.end());
  }

  // Returns the number of an input or of an earlier step's result. Constants and views get numbers when they are met.
  int64_t tensorOf(const Plan& plan, int32_t index, const std::vector<int64_t>& registers,
                   std::vector<int64_t>& tensors) {
    int64_t& known = tensors[static_cast<size_t>(index)];
    const Tensor& tensor = plan.tensors[static_cast<size_t>(index)];
    if (known < 0) {
      const std::string origin = tensor.weight >= 0
                                     ? "weight " + plan.weights[static_cast<size_t>(tensor.weight)].hash
                                     : "view " + std::to_string(tensorOf(plan, tensor.view_of, registers, tensors));
      known = number(origin + typeOf(tensor, registers));
    }
    return known;
  }

  std::map<std::string, int64_t> numbers_;
};

}  // namespace

bool areEquivalent(const Plan& a, const Plan& b) {
  ValueNumbers numbers;
  // Steps that a plugin does may give something else each time: what one plan does once and the other twice differs.
  return a.batch_invariant == b.batch_invariant && a.inputs.size() == b.inputs.size() &&
         a.steps.size() == b.steps.size() && numbers.outputsOf(a) == numbers.outputsOf(b);
}

}  // namespace torchtrt::plan
