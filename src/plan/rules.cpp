#include "plan/rules.h"

#include <algorithm>
#include <bitset>

#include "base/check.h"
#include "plan/step_checker.h"

namespace torchtrt::plan {

namespace {

Shape resolve(const std::vector<Register>& list, std::span<const int64_t> registers) {
  Shape dims;
  for (const Register r : list) {
    dims.push_back(registers[r]);
  }
  return dims;
}

StepChecker::Value valueOf(const Plan& plan, int32_t index, std::span<const int64_t> registers) {
  if (index < 0) {
    return {};
  }
  const Tensor& tensor = plan.tensors[static_cast<size_t>(index)];
  return {true, tensor.dtype, resolve(tensor.dims, registers)};
}

}  // namespace

StepChecker::StepChecker(const Plan& plan, const Step& step, std::span<const int64_t> registers, ErrorCode code)
    : step_(step), code_(code) {
  for (const int32_t input : step.inputs) {
    inputs_.push_back(valueOf(plan, input, registers));
  }
  for (const int32_t output : step.outputs) {
    outputs_.push_back(valueOf(plan, output, registers));
  }
  for (const auto& [name, list] : step.dims) {
    dims_.emplace_back(name, resolve(list, registers));
  }
}

const StepChecker::Value& StepChecker::in(size_t i) const {
  static const Value kAbsent;
  return i < inputs_.size() ? inputs_[i] : kAbsent;
}

const StepChecker::Value& StepChecker::out(size_t i) const {
  return outputs_[i];
}

const Shape& StepChecker::dims(std::string_view name) const {
  const auto found = std::find_if(dims_.begin(), dims_.end(), [&](const auto& entry) { return entry.first == name; });
  TORCHTRT_CHECK(found != dims_.end(), "step '" << step_.name << "' has no attribute '" << name << "'");
  return found->second;
}

bool StepChecker::hasDims(std::string_view name) const {
  return std::any_of(dims_.begin(), dims_.end(), [&](const auto& entry) { return entry.first == name; });
}

void StepChecker::require(bool holds, const char* rule) const {
  if (holds) {
    return;
  }
  const bool corrupt = code_ == ErrorCode::kPlanCorrupt;
  throw EngineError(
      code_, (corrupt ? "damaged plan: step '" : "step '") + step_.name + "' (" + step_.family + "): " + rule,
      step_.location,
      corrupt ? "compile the module again, or copy the file again" : "pass inputs of shapes that fit together");
}

void StepChecker::requirePresent(size_t count) const {
  for (size_t i = 0; i < count; ++i) {
    require(in(i).present, "an operand is missing");
  }
}

void StepChecker::requireOneOf(const std::string& value, std::initializer_list<std::string_view> known,
                               const char* what) const {
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    throwUnknown(what, value);
  }
}

void StepChecker::throwUnknown(const char* what, const std::string& value) const {
  throw EngineError(ErrorCode::kPlanVersion,
                    "step '" + step_.name + "' (" + step_.family + ") has the " + what + " '" + value +
                        "', which this library does not know",
                    step_.location, "load it with the torchtrt that made it, or compile again");
}

const Operation& StepChecker::requireOperation(const char* attribute, std::span<const Operation> operations) const {
  const std::string& name = attributes().getString(attribute);
  const Operation* const operation = findOperation(operations, name);
  if (operation == nullptr) {
    throwUnknown(std::string_view(attribute) == "op" ? "operation" : attribute, name);
  }
  return *operation;
}

void StepChecker::requireOutput(size_t i, const Shape& dims, DType dtype) const {
  require(i < outputs_.size(), "an output is missing");
  require(outputs_[i].dims == dims, "the dimensions of an output are not those of the result");
  require(outputs_[i].dtype == dtype, "the element type of an output is not that of the result");
}

void StepChecker::requireBroadcast(const Shape& from, const Shape& to) const {
  require(from.size() <= to.size(), "an operand has more dimensions than what it is broadcast to");
  const size_t offset = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    require(from[i] == 1 || from[i] == to[offset + i], "an operand cannot be broadcast");
  }
}

void StepChecker::requireInts(const char* name, size_t count, int64_t least, int64_t most) const {
  const std::vector<int64_t>& values = attributes().getInts(name);
  require(values.size() == count, "an attribute has a wrong number of entries");
  for (const int64_t value : values) {
    require(value >= least && value <= most, "an attribute is out of range");
  }
}

void StepChecker::requirePermutation(const std::vector<int64_t>& permutation, size_t rank) const {
  require(permutation.empty() || permutation.size() == rank, "a permutation has a wrong number of entries");
  std::bitset<64> seen;
  for (const int64_t axis : permutation) {
    require(axis >= 0 && static_cast<size_t>(axis) < rank && !seen[static_cast<size_t>(axis)], "a permutation is none");
    seen.set(static_cast<size_t>(axis));
  }
}

void StepChecker::requireActivation() const {
  if (!attributes().getString("activation").empty()) {
    requireOperation("activation", activations());
  }
}

size_t StepChecker::axis(const Value& value) const {
  const int64_t axis = attributes().getInt("axis");
  require(axis >= 0 && static_cast<size_t>(axis) < value.rank(), "the axis is out of range");
  return static_cast<size_t>(axis);
}

Shape StepChecker::broadcast(const Shape& a, const Shape& b) const {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& dim = result[offset + i];
    require(dim == shorter[i] || dim == 1 || shorter[i] == 1, "its operands cannot be broadcast to one shape");
    dim = dim == 1 ? shorter[i] : dim;
  }
  return result;
}

std::string dimsText(const Shape& dims) {
  std::string text = "[";
  for (const int64_t dim : dims) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(dim);
  }
  return text + "]";
}

void checkShapes(const Plan& plan, std::span<const int64_t> registers, ErrorCode code) {
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const Tensor& tensor = plan.tensors[i];
    const size_t bytes = checkedBytes(resolve(tensor.dims, registers), tensor.dtype);
    if (tensor.view_of >= 0) {
      const Tensor& base = plan.tensors[static_cast<size_t>(tensor.view_of)];
      if (bytes != checkedBytes(resolve(base.dims, registers), base.dtype)) {
        throw EngineError(code,
                          "tensor '" + tensor.name + "' views a tensor of another number of elements: " +
                              dimsText(resolve(tensor.dims, registers)) + " of '" + base.name + "' " +
                              dimsText(resolve(base.dims, registers)),
                          {}, "pass inputs of shapes that fit together");
      }
    }
  }
  for (const Step& step : plan.steps) {
    const StepChecker checker(plan, step, registers, code);
    if (!checkWindowed(checker) && !checkPointwise(checker) && !checkReducing(checker) && !checkMoving(checker) &&
        !checkQuantized(checker)) {
      TORCHTRT_CHECK(step.family == "plugin_v2", "family " << step.family << " has no rules");
    }
  }
}

}  // namespace torchtrt::plan
