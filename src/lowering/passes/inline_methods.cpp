#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <optional>

#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace attr = torch::jit::attr;
namespace prim = torch::jit::prim;

// The path by which a module is read from the graph's first input; nothing where it comes from elsewhere.
std::optional<std::string> pathOf(const Value* module, const Graph& graph) {
  std::string path;
  for (; module->node()->kind() == prim::GetAttr; module = module->node()->input()) {
    path = module->node()->s(attr::name) + (path.empty() ? "" : "." + path);
  }
  return graph.inputs().empty() || module != graph.inputs()[0] ? std::nullopt : std::optional(path);
}

torch::jit::GraphFunction* calleeOf(const Node& call) {
  const auto type = call.input(0)->type()->cast<c10::ClassType>();
  return type ? torch::jit::tryToGraphFunction(type->getMethod(call.s(attr::name))) : nullptr;
}

// libtorch names a call by the last attribute alone, so that "encoder.layer.0" becomes "encoder.0": for the time of the
// call the attribute is called by its path. From the innermost call outwards, since nodes forget what the call that
// they take the place of was inlined from.
bool inlineMethod(Node* call, const Graph& graph) {
  const auto path = pathOf(call->input(0), graph);
  torch::jit::GraphFunction* callee = path ? calleeOf(*call) : nullptr;
  if (!callee) {
    return false;
  }
  GraphPtr body = callee->graph()->copy();
  inlineMethods(body);
  torch::jit::preoptimizeGraph(body);  // as libtorch does; inlines functions, whose nodes are the module's
  Node* read = call->input(0)->node();
  const bool is_read = read->kind() == prim::GetAttr;  // else it is the module that this is a method of
  const std::string name = is_read ? read->s(attr::name) : "";
  if (is_read) {
    read->s_(attr::name, *path);
  }
  torch::jit::inlineCallTo(call, callee, body.get());
  if (is_read) {
    read->s_(attr::name, name);
  }
  return true;
}

bool inlineMethods(Block* block, const Graph& graph) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    if (node->kind() == prim::CallMethod) {
      changed = inlineMethod(node, graph) || changed;
      continue;
    }
    for (Block* inner : node->blocks()) {
      changed = inlineMethods(inner, graph) || changed;
    }
  }
  return changed;
}

}  // namespace

bool inlineMethods(const GraphPtr& graph) {
  return inlineMethods(graph->block(), *graph);
}

}  // namespace torchtrt::lowering
