#include "lowering/pass.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {

using torch::jit::Node;
namespace aten = torch::jit::aten;

// Runs before copies and views are dropped, which would give two values one name.
bool foldIdentities(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](Node* node) {
    const bool is_comparison = node->kind() == aten::__is__ || node->kind() == aten::__isnot__;
    if (!is_comparison || node->input(0) != node->input(1)) {
      return;
    }
    torch::jit::WithInsertPoint guard(node);
    node->output()->replaceAllUsesWith(graph->insertConstant(node->kind() == aten::__is__));
    node->destroy();
    changed = true;
  });
  return changed;
}

}  // namespace torchtrt::lowering
