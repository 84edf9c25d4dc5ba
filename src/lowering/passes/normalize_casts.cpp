#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {

bool normalizeCasts(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](torch::jit::Node* node) {
    if (node->kind().toQualString() != std::string("aten::type_as")) {
      return;
    }
    torch::jit::WithInsertPoint guard(node);
    torch::jit::Value* no = graph->insertConstant(false);
    torch::jit::Value* none = graph->insertConstant(torch::jit::IValue());
    torch::jit::Node* cast =
        graph->insertNode(graph->create(torch::jit::aten::to, {node->input(0), node->input(1), no, no, none}));
    cast->copyMetadata(node);
    cast->output()->copyMetadata(node->output());
    node->output()->replaceAllUsesWith(cast->output());
    node->destroy();
    changed = true;
  });
  return changed;
}

}  // namespace torchtrt::lowering
