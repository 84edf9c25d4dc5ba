#include "lowering/pass.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

// Forms that take the new sizes as second operand. Where view is allowed, reshape gives the same view.
bool isView(const torch::jit::Node& node) {
  const std::string kind = node.kind().toQualString();
  const bool known = kind == "aten::view" || kind == "aten::_unsafe_view" || kind == "aten::_reshape_alias";
  return known && node.input(1)->type()->kind() == c10::TypeKind::ListType;
}

}  // namespace

bool normalizeViews(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](torch::jit::Node* node) {
    if (!isView(*node)) {
      return;
    }
    torch::jit::Node* reshape = graph->create(torch::jit::aten::reshape, {node->input(0), node->input(1)});
    reshape->insertBefore(node);
    reshape->copyMetadata(node);
    reshape->output()->copyMetadata(node->output());
    node->output()->replaceAllUsesWith(reshape->output());
    node->destroy();
    changed = true;
  });
  return changed;
}

}  // namespace torchtrt::lowering
