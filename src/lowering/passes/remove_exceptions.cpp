#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Node;
namespace prim = torch::jit::prim;

// True if running the block always ends in an exception.
bool alwaysRaises(Block* block) {
  for (Node* node : block->nodes()) {
    if (node->kind() == prim::RaiseException) {
      return true;
    }
    if (node->kind() == prim::If && alwaysRaises(node->blocks()[0]) && alwaysRaises(node->blocks()[1])) {
      return true;
    }
  }
  return false;
}

}  // namespace

// The check that guarded the exception is lost: the compiled module has undefined results where the original raised, or
// raises something else. Engines check the shapes of their inputs themselves.
bool removeExceptions(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](Node* node) {
    if (node->kind() != prim::If) {
      return;
    }
    const bool first = alwaysRaises(node->blocks()[0]);
    const bool second = alwaysRaises(node->blocks()[1]);
    if (first == second) {
      return;
    }
    inlineBlock(node, node->blocks()[first ? 1 : 0]);
    node->destroy();
    changed = true;
  });
  return changed;
}

}  // namespace torchtrt::lowering
