#include "lowering/graph_walk.h"
#include "lowering/memory/aliases.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

// Forms that take the new sizes as second operand. Where view is allowed, reshape gives the same view; where somebody
// writes to it, it stays what is never a copy.
bool isView(const torch::jit::Node& node) {
  const std::string kind = node.kind().toQualString();
  const bool known = kind == "aten::view" || kind == "aten::_unsafe_view" || kind == "aten::_reshape_alias";
  return known && node.input(1)->type()->kind() == c10::TypeKind::ListType;
}

}  // namespace

bool normalizeViews(const GraphPtr& graph) {
  const torch::jit::AliasDb aliases = aliasesOf(graph);
  const SecretAliases secrets = secretAliasesOf(*graph);
  std::vector<torch::jit::Node*> views;
  forEachNode(graph->block(), [&](torch::jit::Node* node) {
    if (isView(*node) && !isWritten(node->output(), aliases, secrets)) {
      views.push_back(node);
    }
  });
  for (torch::jit::Node* node : views) {
    torch::jit::Node* reshape = graph->create(torch::jit::aten::reshape, {node->input(0), node->input(1)});
    reshape->insertBefore(node);
    reshape->copyMetadata(node);
    reshape->output()->copyMetadata(node->output());
    node->output()->replaceAllUsesWith(reshape->output());
    node->destroy();
  }
  return !views.empty();
}

}  // namespace torchtrt::lowering
