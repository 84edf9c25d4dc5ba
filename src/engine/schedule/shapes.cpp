#include "engine/schedule/shapes.h"

namespace torchtrt::engine {

namespace {

std::string expectedDims(const plan::Plan& plan, const plan::Tensor& tensor) {
  std::string text;
  for (const plan::Register r : tensor.dims) {
    text += (text.empty() ? "" : ", ") + plan::printRegister(plan, r);
  }
  return "[" + text + "]";
}

constexpr const char* kOtherShape =
    "pass a shape the engine was compiled for, or compile again with a range that has this one";

class ShapeBinder {
 public:
  ShapeBinder(const plan::Plan& plan, std::span<const TensorView> inputs)
      : plan_(plan), inputs_(inputs), symbols_(plan.symbols.size(), -1), bound_by_(plan.symbols.size()) {}

  std::vector<int64_t> run() {
    if (inputs_.size() != plan_.inputs.size()) {
      throw EngineError(ErrorCode::kInputCount, "engine '" + plan_.name + "': expected " +
                                                    std::to_string(plan_.inputs.size()) + " inputs, got " +
                                                    std::to_string(inputs_.size()));
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      checkTypeAndRank(i);
      bindSymbols(i);
    }
    for (size_t s = 0; s < symbols_.size(); ++s) {
      if (symbols_[s] < 0) {  // a symbol that no input has is one that nothing uses
        symbols_[s] = plan_.symbols[s].opt;
      }
    }
    std::vector<int64_t> registers;
    plan::runProgram(plan_, symbols_, registers);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      checkDims(i, registers);
    }
    return registers;
  }

 private:
  const plan::Tensor& tensorOf(size_t input) const {
    return plan_.tensors[static_cast<size_t>(plan_.inputs[input].tensor)];
  }
  std::string nameOf(size_t input) const {
    return "input '" + plan_.inputs[input].name + "'";
  }
  std::span<const int64_t> given(size_t input) const {
    return {inputs_[input].dims, static_cast<size_t>(inputs_[input].rank)};
  }

  void checkTypeAndRank(size_t i) const {
    const plan::Tensor& tensor = tensorOf(i);
    if (inputs_[i].dtype != tensor.dtype) {
      throw EngineError(
          ErrorCode::kInputDType,
          nameOf(i) + ": expected " + toString(tensor.dtype) + ", got " + toString(inputs_[i].dtype), {},
          std::string("convert it to ") + toString(tensor.dtype) + ", or compile for " + toString(inputs_[i].dtype));
    }
    if (inputs_[i].rank < 0 || static_cast<size_t>(inputs_[i].rank) != tensor.dims.size()) {
      throw EngineError(ErrorCode::kInputShape,
                        nameOf(i) + ": expected " + std::to_string(tensor.dims.size()) + " dimensions " +
                            expectedDims(plan_, tensor) + ", got " +
                            (inputs_[i].rank < 0 ? "a negative rank" : dimsText(given(i))),
                        {}, "pass a tensor of that rank");
    }
  }

  void bindSymbols(size_t i) {
    const plan::Tensor& tensor = tensorOf(i);
    for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
      const plan::Instruction& instruction = plan_.program[tensor.dims[axis]];
      const int64_t dim = inputs_[i].dims[axis];
      if (dim < 0) {
        throw EngineError(ErrorCode::kInputShape, nameOf(i) + ": a dimension of " + std::to_string(dim));
      }
      if (instruction.op == plan::Op::kSymbol) {
        bindSymbol(i, axis, instruction.a, dim);
      }
    }
  }

  void bindSymbol(size_t input, size_t axis, uint32_t index, int64_t dim) {
    const Symbol& symbol = plan_.symbols[index];
    const std::string where = nameOf(input) + ", dimension " + std::to_string(axis);
    if (symbols_[index] >= 0 && symbols_[index] != dim) {
      throw EngineError(ErrorCode::kInputShape,
                        where + ": expected " + std::to_string(symbols_[index]) + " as in " + bound_by_[index] +
                            ", got " + std::to_string(dim),
                        {}, "dimensions that share the symbol " + symbol.name + " must be equal");
    }
    if (dim < symbol.min || dim > symbol.max) {
      throw EngineError(ErrorCode::kInputShape,
                        where + ": expected " + std::to_string(symbol.min) + " to " + std::to_string(symbol.max) +
                            ", got " + std::to_string(dim) + " in " + dimsText(given(input)),
                        {}, kOtherShape);
    }
    symbols_[index] = dim;
    bound_by_[index] = where;
  }

  void checkDims(size_t i, const std::vector<int64_t>& registers) const {
    const plan::Tensor& tensor = tensorOf(i);
    for (size_t axis = 0; axis < tensor.dims.size(); ++axis) {
      const int64_t expected = registers[tensor.dims[axis]];
      if (inputs_[i].dims[axis] != expected) {
        throw EngineError(ErrorCode::kInputShape,
                          nameOf(i) + ", dimension " + std::to_string(axis) + ": expected " + std::to_string(expected) +
                              ", got " + std::to_string(inputs_[i].dims[axis]) + " (expected " +
                              expectedDims(plan_, tensor) + ", got " + dimsText(given(i)) + ")",
                          {}, kOtherShape);
      }
    }
  }

  const plan::Plan& plan_;
  std::span<const TensorView> inputs_;
  std::vector<int64_t> symbols_;       // -1: not yet seen
  std::vector<std::string> bound_by_;  // "input 'x', dimension 0"
};

}  // namespace

std::vector<int64_t> evaluateShapes(const plan::Plan& plan, std::span<const TensorView> inputs) {
  return ShapeBinder(plan, inputs).run();
}

std::vector<int64_t> dimsOf(const std::vector<plan::Register>& registers, const std::vector<int64_t>& values) {
  std::vector<int64_t> dims;
  dims.reserve(registers.size());
  for (const plan::Register r : registers) {
    dims.push_back(values[r]);
  }
  return dims;
}

std::string dimsText(std::span<const int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims) {
    text += (text.empty() ? "" : ", ") + std::to_string(dim);
  }
  return "[" + text + "]";
}

}  // namespace torchtrt::engine
