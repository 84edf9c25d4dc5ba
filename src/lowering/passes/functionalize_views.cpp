#include <algorithm>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/memory/memory_layout.h"
#include "lowering/passes/in_place.h"
#include "lowering/passes/passes.h"
#include "lowering/passes/view_functionalizer.h"
#include "lowering/passes/views.h"

// Writes to a tensor that is made here, and of which all names are known.

namespace torchtrt::lowering {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

namespace {

std::vector<Value*> writtenRoots(Graph& graph) {
  std::vector<Value*> roots;
  forEachNode(graph.block(), [&](Node* node) {
    Value* root = isInPlace(*node) ? rootOf(node->input(0)) : nullptr;
    if (root != nullptr && std::find(roots.begin(), roots.end(), root) == roots.end()) {
      roots.push_back(root);
    }
  });
  return roots;
}

}  // namespace

bool functionalizeViews(const GraphPtr& graph) {
  if (writtenRoots(*graph).empty()) {
    return false;
  }
  bool changed = removeWholeSlices(*graph);
  const auto deciders = decidersOfLayout(graph->block(), writesThatShow(*graph));
  for (Value* root : writtenRoots(*graph)) {
    const auto family = ViewFamily::of(*root);
    if (family && !showsLayout(*family, deciders)) {
      functionalize(*graph, *family, /*keeps_writes=*/false);
      changed = true;
    }
  }
  return changed;
}

}  // namespace torchtrt::lowering
