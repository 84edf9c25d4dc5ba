#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <optional>
#include <string_view>

#include "lowering/graph_walk.h"
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

// Encoders and decoders compare a mask that came without a hint with a causal one, element by element, so that faster
// kernels can do without it. With the mask the results are the same, and no branch waits for the comparison.
bool takeCausalHints(Graph& graph) {
  constexpr std::string_view kComparison = "__torch__.torch.nn.modules.transformer._detect_is_causal_mask";
  bool changed = false;
  forEachNode(graph.block(), [&](Node* node) {
    const auto function =
        node->kind() == prim::CallFunction ? node->input(0)->type()->cast<c10::FunctionType>() : nullptr;
    if (function && function->function()->qualname().qualifiedName() == kComparison) {
      const torch::jit::WithInsertPoint guard(node);
      node->output()->replaceAllUsesWith(graph.insert(torch::jit::aten::__is__, {node->input(2), true}));
      node->destroy();
      changed = true;
    }
  });
  return changed;
}

}  // namespace

bool inlineMethods(const GraphPtr& graph) {
  const bool hinted = takeCausalHints(*graph);
  return inlineMethods(graph->block(), *graph) || hinted;
}

}  // namespace torchtrt::lowering
