#include <torch/csrc/jit/ir/constants.h>

#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Node;
using torch::jit::Value;

bool isFalse(const Value* value) {
  return torch::jit::constant_as<bool>(value) == false;
}

// Operands 0 to 4 are input, weight, bias, mean, variance in every form; momentum does not matter in evaluation.
void replace(Node* node, Value* momentum, Value* eps) {
  torch::jit::Graph* graph = node->owningGraph();
  torch::jit::WithInsertPoint guard(node);
  Value* no = graph->insertConstant(false);
  const auto in = node->inputs();
  Node* replacement = graph->create(c10::Symbol::fromQualString("aten::batch_norm"),
                                    {in[0], in[1], in[2], in[3], in[4], no, momentum, eps, no});
  replacement->insertBefore(node);
  replacement->copyMetadata(node);
  replacement->output()->copyMetadata(node->output(0));
  node->output(0)->replaceAllUsesWith(replacement->output());
  node->destroy();
}

bool onlyFirstOutputUsed(const Node& node) {
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    if (node.outputs()[i]->hasUses()) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool normalizeBatchNorm(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](Node* node) {
    const std::string kind = node->kind().toQualString();
    const bool general = kind == "aten::native_batch_norm" || kind == "aten::cudnn_batch_norm";
    const bool instance = kind == "aten::instance_norm";
    // instance_norm with use_input_stats=False normalises with the running statistics, as batch_norm does.
    if ((general || instance) && node->inputs().size() >= 8 && isFalse(node->input(5)) && onlyFirstOutputUsed(*node)) {
      replace(node, node->input(6), node->input(7));
      changed = true;
    }
  });
  return changed;
}

}  // namespace torchtrt::lowering
