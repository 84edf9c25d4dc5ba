#include "conversion/evaluators/evaluators.h"

namespace torchtrt::conversion::evaluators {

const EvaluatorRegistry& EvaluatorRegistry::instance() {
  static const EvaluatorRegistry registry = [] {
    EvaluatorRegistry all;
    addStructureEvaluators(all);
    addSizeEvaluators(all);
    return all;
  }();
  return registry;
}

void EvaluatorRegistry::add(const std::string& name, Evaluator evaluator) {
  if (!evaluators_.emplace(name, evaluator).second) {
    throw InternalError("two evaluators for " + name);
  }
}

Evaluator EvaluatorRegistry::find(const Node& node) const {
  const auto found = evaluators_.find(node.kind().toQualString());
  return found == evaluators_.end() ? nullptr : found->second;
}

bool evaluate(ConversionCtx& ctx, const Node& node) {
  const Evaluator evaluator = EvaluatorRegistry::instance().find(node);
  return (evaluator && evaluator(ctx, node)) || evaluateInPyTorch(ctx, node);
}

}  // namespace torchtrt::conversion::evaluators
