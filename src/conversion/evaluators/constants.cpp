#include <ATen/core/grad_mode.h>

#include <set>

#include "conversion/evaluators/evaluators.h"

namespace torchtrt::conversion::evaluators {
namespace {

// These only move list elements about, whatever those are.
bool movesElements(const Node& node) {
  static const std::set<std::string> kinds = {"aten::len", "aten::__getitem__", "aten::slice", "aten::list",
                                              "aten::add", "aten::append",      "aten::extend"};
  return kinds.count(node.kind().toQualString()) != 0 && node.input(0)->type()->kind() == c10::TypeKind::ListType;
}

bool mayRun(const Node& node) {
  const auto* schema = node.maybeSchema();
  if (!schema || !node.blocks().empty() || node.isNondeterministic() || node.hasSideEffects()) {
    return false;
  }
  return !schema->is_mutable() || movesElements(node);
}

std::optional<torch::jit::Stack> stackOf(const ConversionCtx& ctx, const Node& node) {
  torch::jit::Stack operands;
  for (const Value* input : node.inputs()) {
    const auto value = lookUp(ctx, input);
    if (!value || (holdsContainers(*value) && !movesElements(node))) {
      return std::nullopt;
    }
    operands.push_back(*value);
  }
  return operands;
}

}  // namespace

bool evaluateInPyTorch(ConversionCtx& ctx, const Node& node) {
  auto stack = mayRun(node) ? stackOf(ctx, node) : std::nullopt;
  if (!stack) {
    return false;
  }
  if (node.maybeSchema() && node.schema().is_vararg()) {
    stack->emplace_back(static_cast<int64_t>(stack->size()));  // such operators are told how many there are
  }
  try {
    const at::NoGradGuard no_grad;
    node.getOperation()(*stack);
  } catch (const std::exception& error) {
    // The lines behind the first are libtorch's back trace.
    const std::string text = error.what();
    ctx.refuse("evaluation", "PyTorch fails to compute it from constants: " + text.substr(0, text.find('\n')));
  }
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    associate(ctx, node.outputs()[i], (*stack)[i]);
  }
  return true;
}

}  // namespace torchtrt::conversion::evaluators
