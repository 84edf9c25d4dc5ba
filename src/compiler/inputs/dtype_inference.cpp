#include "compiler/inputs/dtype_inference.h"

#include <set>
#include <string>
#include <utility>

#include "runtime/dtypes.h"

namespace torchtrt::compiler {

namespace {

// Operators whose operand of this number holds indices.
const std::set<std::pair<std::string, size_t>>& indexOperands() {
  static const std::set<std::pair<std::string, size_t>> operands = {
      {"aten::embedding", 1}, {"aten::index_select", 2}, {"aten::gather", 2},
      {"aten::take", 1},      {"aten::one_hot", 0},      {"aten::take_along_dim", 1},
  };
  return operands;
}

const std::string& operandName(const torch::jit::Node& node, size_t operand) {
  static const std::string kNone;
  const c10::FunctionSchema* schema = node.maybeSchema();
  return schema != nullptr && operand < schema->arguments().size() ? schema->arguments()[operand].name() : kNone;
}

bool isCondition(const torch::jit::Node& node, size_t operand) {
  return operandName(node, operand) == "mask" || operandName(node, operand) == "condition";
}

// Operands that choose, count or name classes, and packed weights: where they are integers, the others need not be any.
bool isOfAnotherKind(const torch::jit::Node& node, size_t operand) {
  static const std::set<std::string> names = {"index",   "indices", "attn_mask", "offsets", "repeats",
                                              "lengths", "target",  "targets",   "sorter"};
  const bool has_integer_weights = std::string(node.kind().toQualString()).rfind("aten::_weight_int", 0) == 0;
  return isCondition(node, operand) || names.count(operandName(node, operand)) != 0 || has_integer_weights;
}

// The dtype of a constant tensor among the node's operands. A number that became a 0-d tensor does not decide.
std::optional<DType> constantBeside(const torch::jit::Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const auto constant = torch::jit::toIValue(node.input(i));
    if (!constant || !constant->isTensor() || !constant->toTensor().defined() || constant->toTensor().dim() == 0) {
      continue;
    }
    const at::ScalarType type = constant->toTensor().scalar_type();
    if (at::isFloatingType(type) || !isOfAnotherKind(node, i)) {
      return runtime::dtypeOf(type);
    }
  }
  return std::nullopt;
}

bool isCast(const torch::jit::Node& node) {
  static const std::set<std::string> kinds = {"aten::to", "aten::_autocast_to_full_precision",
                                              "aten::_autocast_to_reduced_precision"};
  return kinds.count(node.kind().toQualString()) != 0;
}

std::optional<DType> firstUse(const torch::jit::Value& value, std::set<const torch::jit::Value*>& seen) {
  if (!seen.insert(&value).second) {
    return std::nullopt;
  }
  for (const torch::jit::Use& use : value.uses()) {
    if (indexOperands().count({use.user->kind().toQualString(), use.offset}) != 0) {
      return DType::kInt64;
    }
    if (isCondition(*use.user, use.offset)) {
      return DType::kBool;
    }
    if (const auto dtype = constantBeside(*use.user)) {
      return dtype;
    }
    // A cast ends the search: what follows says nothing of what came in. Neither does what an index chooses.
    if (isCast(*use.user) || isOfAnotherKind(*use.user, use.offset)) {
      continue;
    }
    for (const torch::jit::Value* output : use.user->outputs()) {
      if (const auto dtype = firstUse(*output, seen)) {
        return dtype;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

DType inferDType(const torch::jit::Value& value) {
  // A traced graph knows.
  if (const auto type = value.type()->cast<c10::TensorType>(); type && type->scalarType()) {
    if (const auto dtype = runtime::dtypeOf(*type->scalarType())) {
      return *dtype;
    }
  }
  std::set<const torch::jit::Value*> seen;
  return firstUse(value, seen).value_or(DType::kFloat32);
}

DType dtypeOf(DataType dtype) {
  switch (dtype) {
    case DataType::kLong:
      return DType::kInt64;
    case DataType::kDouble:
      return DType::kFloat64;
    case DataType::kFloat:
      return DType::kFloat32;
    case DataType::kHalf:
      return DType::kFloat16;
    case DataType::kChar:
      return DType::kInt8;
    case DataType::kInt:
      return DType::kInt32;
    case DataType::kBool:
      return DType::kBool;
    case DataType::kBFloat16:
      return DType::kBFloat16;
    case DataType::kByte:
      return DType::kUInt8;
    case DataType::kShort:
      return DType::kInt16;
    case DataType::kUnknown:
      break;
  }
  throw CompileError(ErrorCode::kInvalidInputSpec, "the data type of an input is unknown", {}, "give its dtype");
}

}  // namespace torchtrt::compiler
