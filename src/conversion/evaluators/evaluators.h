// Evaluators compute what is known while compiling: numbers, lists, sizes, constant tensors. They run before
// converters. PyTorch itself computes operators that none of them knows by name, if all operands are known.
#pragma once

#include <map>
#include <string>

#include "conversion/ivalues.h"

namespace torchtrt::conversion::evaluators {

using torch::jit::Node;
using torch::jit::Value;

// Associates the node's outputs and says true, or leaves the node to others.
using Evaluator = bool (*)(ConversionCtx& ctx, const Node& node);

// Finds evaluators by qualified name, overloads alike ("aten::size").
class EvaluatorRegistry {
 public:
  static const EvaluatorRegistry& instance();  // filled by list.cpp
  void add(const std::string& name, Evaluator evaluator);
  Evaluator find(const Node& node) const;

 private:
  std::map<std::string, Evaluator> evaluators_;
};

void addStructureEvaluators(
    EvaluatorRegistry& registry);                     // structure.cpp: constants, lists, tuples, None, types of tensors
void addSizeEvaluators(EvaluatorRegistry& registry);  // sizes.cpp: size, dim, numel and arithmetic with symbols

// constants.cpp: runs the node in PyTorch if all operands are known and it has no effects.
bool evaluateInPyTorch(ConversionCtx& ctx, const Node& node);

// All of the above in order.
bool evaluate(ConversionCtx& ctx, const Node& node);

}  // namespace torchtrt::conversion::evaluators
