#include <algorithm>
#include <bitset>

#include "plan/counted.h"
#include "plan/families.h"
#include "plan/format.h"
#include "plan/plan.h"
#include "plan/rules.h"

namespace torchtrt::plan {

namespace {

constexpr size_t kMaxRank = 16;

void require(bool holds, const char* what, size_t index, const char* rule) {
  if (!holds) {
    throwCorrupt(std::string(what) + " " + std::to_string(index) + " " + rule);
  }
}

bool isPermutation(const std::vector<uint8_t>& order) {
  std::bitset<256> seen;
  for (const uint8_t axis : order) {
    if (axis >= order.size() || seen[axis]) {
      return false;
    }
    seen.set(axis);
  }
  return true;
}

class Validator {
 public:
  explicit Validator(const Plan& plan) : plan_(plan), defined_(plan.tensors.size(), false) {}

  void run() {
    checkSymbols();
    checkProgram();
    checkWeights();
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      checkTensor(i);
    }
    checkInputs();
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      checkView(i);
    }
    for (const Step& step : plan_.steps) {
      checkStep(step);
    }
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      require(isDefined(static_cast<int32_t>(i)), "tensor", i, "is never computed");
    }
    checkCounted();
    for (size_t i = 0; i < plan_.outputs.size(); ++i) {
      require(isTensor(plan_.outputs[i].tensor), "output", i, "is not a tensor of the plan");
      require(plan_.outputs[i].empty_dims.empty(), "output", i, "has dimensions of an empty input");
    }
  }

 private:
  bool isTensor(int32_t index) const {
    return index >= 0 && static_cast<size_t>(index) < plan_.tensors.size();
  }

  // A view is there as soon as the tensor at the end of its chain is.
  bool isDefined(int32_t index) const {
    while (plan_.tensors[static_cast<size_t>(index)].view_of >= 0) {
      index = plan_.tensors[static_cast<size_t>(index)].view_of;
    }
    return defined_[static_cast<size_t>(index)];
  }

  void checkRegisters(const std::vector<Register>& registers, const char* what, size_t index) const {
    for (const Register r : registers) {
      require(r < plan_.program.size(), what, index, "uses a register that does not exist");
    }
  }

  void checkSymbols() const {
    for (size_t i = 0; i < plan_.symbols.size(); ++i) {
      const Symbol& symbol = plan_.symbols[i];
      require(symbol.min >= 0 && symbol.min <= symbol.opt && symbol.opt <= symbol.max, "symbol", i,
              "has no proper range");
    }
  }

  void checkProgram() const {
    for (size_t i = 0; i < plan_.program.size(); ++i) {
      const Instruction& instruction = plan_.program[i];
      if (instruction.op == Op::kSymbol) {
        require(instruction.a < plan_.symbols.size(), "instruction", i, "reads a symbol that does not exist");
      } else if (instruction.op != Op::kConstant) {
        require(instruction.a < i && instruction.b < i, "instruction", i, "reads a register that is not yet written");
      }
    }
  }

  void checkWeights() const {
    for (size_t i = 0; i < plan_.weights.size(); ++i) {
      const Weight& weight = plan_.weights[i];
      require(weight.dims.size() <= kMaxRank, "weight", i, "has more than 16 dimensions");
      require(checkedBytes(weight.dims, weight.dtype) == weight.bytes, "weight", i,
              "has a size that is not its dimensions'");
    }
  }

  void checkTensor(size_t i) {
    const Tensor& tensor = plan_.tensors[i];
    require(tensor.dims.size() <= kMaxRank, "tensor", i, "has more than 16 dimensions");
    checkRegisters(tensor.dims, "tensor", i);
    require(tensor.order.empty() || (tensor.order.size() == tensor.dims.size() && isPermutation(tensor.order)),
            "tensor", i, "has a memory order that is no permutation of its axes");
    if (tensor.weight >= 0) {
      checkConstant(i);
      defined_[i] = true;
    }
    require(tensor.weight >= -1 && tensor.view_of >= -1, "tensor", i, "refers to a negative index");
    require(tensor.weight < 0 || tensor.view_of < 0, "tensor", i, "is both a constant and a view");
    require(tensor.view_of < 0 || isTensor(tensor.view_of), "tensor", i, "is a view of a tensor that does not exist");
  }

  void checkConstant(size_t i) const {
    const Tensor& tensor = plan_.tensors[i];
    require(static_cast<size_t>(tensor.weight) < plan_.weights.size(), "tensor", i, "is a weight that does not exist");
    const Weight& weight = plan_.weights[static_cast<size_t>(tensor.weight)];
    bool same = weight.dtype == tensor.dtype && weight.dims.size() == tensor.dims.size() && tensor.order.empty();
    for (size_t axis = 0; same && axis < weight.dims.size(); ++axis) {
      const Instruction& instruction = plan_.program[tensor.dims[axis]];
      same = instruction.op == Op::kConstant && instruction.immediate == weight.dims[axis];
    }
    require(same, "tensor", i, "differs from its weight in element type or dimensions");
  }

  void checkInputs() {
    std::vector<bool> bound(plan_.symbols.size(), false);
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      require(isTensor(plan_.inputs[i].tensor), "input", i, "is not a tensor of the plan");
      const auto index = static_cast<size_t>(plan_.inputs[i].tensor);
      const Tensor& tensor = plan_.tensors[index];
      require(!defined_[index] && tensor.view_of < 0, "input", i, "is also something else");
      require(tensor.order.empty(), "input", i, "is not row-major");
      defined_[index] = true;
      checkEmptyDims(i);
      for (const Register r : tensor.dims) {
        if (plan_.program[r].op == Op::kSymbol) {
          bound[plan_.program[r].a] = true;
        }
      }
    }
    for (size_t i = 0; i < bound.size(); ++i) {
      require(bound[i] || !isUsed(i), "symbol", i, "is not a dimension of any input, so its value is unknown");
    }
  }

  // Checks that `empty_dims` hold no elements and are nothing that the input itself, of fixed dims, may be.
  void checkEmptyDims(size_t i) const {
    const std::vector<int64_t>& empty = plan_.inputs[i].empty_dims;
    if (empty.empty()) {
      return;
    }
    const bool has_none = std::find(empty.begin(), empty.end(), 0) != empty.end() &&
                          std::all_of(empty.begin(), empty.end(), [](int64_t dim) { return dim >= 0; });
    require(empty.size() <= kMaxRank && has_none, "input", i, "comes empty with dimensions of no empty tensor");
    std::vector<int64_t> fixed;
    for (const Register dim : plan_.tensors[static_cast<size_t>(plan_.inputs[i].tensor)].dims) {
      require(plan_.program[dim].op == Op::kConstant, "input", i, "may come empty, and its own dimensions vary");
      fixed.push_back(plan_.program[dim].immediate);
    }
    require(fixed != empty, "input", i, "comes empty with the dimensions that it has");
  }

  bool isUsed(size_t symbol) const {
    return std::any_of(plan_.program.begin(), plan_.program.end(), [&](const Instruction& instruction) {
      return instruction.op == Op::kSymbol && instruction.a == symbol;
    });
  }

  void checkView(size_t i) const {
    const Tensor& view = plan_.tensors[i];
    if (view.view_of < 0) {
      return;
    }
    const Tensor& base = plan_.tensors[static_cast<size_t>(view.view_of)];
    require(view.dtype == base.dtype, "tensor", i, "views a tensor of another element type");
    require(!defined_[i], "tensor", i, "is a view and something else");
    size_t length = 0;
    for (auto at = static_cast<int32_t>(i); plan_.tensors[static_cast<size_t>(at)].view_of >= 0; ++length) {
      require(length < kMaxViewChain, "tensor", i, "is a view of itself");
      at = plan_.tensors[static_cast<size_t>(at)].view_of;
    }
  }

  void checkStep(const Step& step) {
    checkAgainstTable(step);
    const auto index = static_cast<size_t>(&step - plan_.steps.data());
    for (const int32_t input : step.inputs) {
      require(input == -1 || isTensor(input), "step", index, "reads a tensor that does not exist");
      require(input == -1 || isDefined(input), "step", index, "reads a tensor before it is computed");
    }
    for (const auto& [name, registers] : step.dims) {
      require(registers.size() <= kMaxRank, "step", index, "has an attribute of more than 16 dimensions");
      checkRegisters(registers, "step", index);
    }
    for (const int32_t output : step.outputs) {
      require(isTensor(output), "step", index, "writes a tensor that does not exist");
      const auto at = static_cast<size_t>(output);
      require(!defined_[at] && plan_.tensors[at].view_of < 0, "step", index, "writes a tensor that has another source");
      defined_[at] = true;
    }
  }

  // The length of a counted tensor is known only behind its step, and so to the caller alone.
  void checkCounted() const {
    const std::vector<int32_t> counts = countsOfTensors(plan_);
    const auto is_counted = [&](int32_t tensor) { return tensor >= 0 && counts[static_cast<size_t>(tensor)] >= 0; };
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      require(!is_counted(plan_.tensors[i].view_of), "tensor", i, "views a tensor whose rows are counted");
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const std::vector<int32_t>& inputs = plan_.steps[i].inputs;
      require(std::none_of(inputs.begin(), inputs.end(), is_counted), "step", i,
              "reads a tensor whose rows are counted");
    }
  }

  // Chains this long do not come from reshapes; the bound keeps hostile plans from taking quadratic time.
  static constexpr size_t kMaxViewChain = 1000;

  const Plan& plan_;
  std::vector<bool> defined_;
};

}  // namespace

void checkStructure(const Plan& plan) {
  Validator(plan).run();
}

void checkOptimumShapes(const Plan& plan, ErrorCode code) {
  std::vector<int64_t> values;
  for (const Symbol& symbol : plan.symbols) {
    values.push_back(symbol.opt);
  }
  std::vector<int64_t> registers;
  runProgram(plan, values, registers);
  checkShapes(plan, registers, code);
}

void validate(const Plan& plan) {
  checkStructure(plan);
  checkOptimumShapes(plan, ErrorCode::kPlanCorrupt);
}

}  // namespace torchtrt::plan
