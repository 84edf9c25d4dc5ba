#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "lowering/graph_walk.h"
#include "lowering/memory/aliases.h"
#include "lowering/memory/memory_layout.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Node;
using torch::jit::Value;

// These give a view of, or the very, input.
constexpr std::array<std::string_view, 6> kViews = {"aten::detach", "aten::alias",        "aten::lift_fresh",
                                                    "aten::lift",   "aten::resolve_conj", "aten::resolve_neg"};
// These give memory of their own, always or where the input is not laid out as asked for.
constexpr std::array<std::string_view, 2> kCopies = {"aten::contiguous", "aten::clone"};

template <size_t N>
bool isOneOf(const std::array<std::string_view, N>& kinds, const Node& node) {
  const std::string_view kind = node.kind().toQualString();
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool escapes(const Value* value, const torch::jit::Graph& graph) {
  return std::any_of(value->uses().begin(), value->uses().end(),
                     [&](const torch::jit::Use& use) { return use.user == graph.return_node(); });
}

// A copy may be dropped where nobody writes to either side and the caller cannot tell an input from an output.
bool copyIsInvisible(Node& node, const torch::jit::AliasDb& aliases, const SecretAliases& secrets,
                     const torch::jit::Graph& graph) {
  return !isWritten(node.input(0), aliases, secrets) && !isWritten(node.output(), aliases, secrets) &&
         !escapes(node.output(), graph);
}

}  // namespace

bool removeNoOps(const GraphPtr& graph) {
  const torch::jit::AliasDb aliases = aliasesOf(graph);
  const SecretAliases secrets = secretAliasesOf(*graph);
  bool copies_matter = false;  // where somebody sees layouts, a copy that lays its operand out anew is no copy
  forEachNode(graph->block(), [&](Node* node) {
    copies_matter |= looksAtLayout(*node) || (viewsOrCopies(*node) && isWritten(node->output(), aliases, secrets));
  });
  std::vector<Node*> removed;
  forEachNode(graph->block(), [&](Node* node) {
    const bool view = isOneOf(kViews, *node);
    const bool copy = !copies_matter && isOneOf(kCopies, *node);
    if (view || (copy && copyIsInvisible(*node, aliases, secrets, *graph))) {
      removed.push_back(node);
    }
  });
  for (Node* node : removed) {
    node->output()->replaceAllUsesWith(node->input(0));
    node->destroy();
  }
  return !removed.empty();
}

}  // namespace torchtrt::lowering
