#include <algorithm>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

bool canBeTakenApart(const Value& tuple) {
  return tuple.node()->kind() == prim::TupleConstruct || tuple.node()->kind() == prim::Uninitialized;
}

// One element of what a block gives: of a block that never ends there is nothing to give.
Value* elementOf(Graph& graph, const Value& tuple, size_t index, const c10::TypePtr& type) {
  if (tuple.node()->kind() == prim::TupleConstruct) {
    return const_cast<Value&>(tuple).node()->input(index);
  }
  const torch::jit::WithInsertPoint guard(const_cast<Value&>(tuple).node());
  return graph.insertNode(graph.createUninitialized(type))->output();
}

void flatten(Graph& graph, Node& branch, size_t offset) {
  Value* whole = branch.outputs()[offset];
  const auto type = whole->type()->expect<c10::TupleType>();
  std::vector<Value*> elements;
  for (size_t i = 0; i < type->elements().size(); ++i) {
    for (Block* block : branch.blocks()) {
      block->registerOutput(elementOf(graph, *block->outputs()[offset], i, type->elements()[i]));
    }
    elements.push_back(branch.addOutput()->setType(type->elements()[i]));
  }
  const torch::jit::WithInsertPoint behind(branch.next());
  Value* made = graph.insertNode(graph.createTuple(elements, type->schema() ? type : nullptr))->output();
  made->copyMetadata(whole);
  whole->replaceAllUsesWith(made);
  for (Block* block : branch.blocks()) {
    block->eraseOutput(offset);
  }
  branch.eraseOutput(offset);
}

}  // namespace

// Goes from the inside out, so that the tuple of an inner branch is made in the block of the outer one.
bool flattenBranchTuples(const GraphPtr& graph) {
  bool changed = false;
  forEachNode(graph->block(), [&](Node* node) {
    if (node->kind() != prim::If) {
      return;
    }
    for (size_t offset = node->outputs().size(); offset-- > 0;) {
      const auto blocks = node->blocks();
      const bool all_construct = std::all_of(
          blocks.begin(), blocks.end(), [&](const Block* block) { return canBeTakenApart(*block->outputs()[offset]); });
      if (all_construct && node->outputs()[offset]->type()->kind() == c10::TypeKind::TupleType) {
        flatten(*graph, *node, offset);
        changed = true;
      }
    }
  });
  return changed;
}

}  // namespace torchtrt::lowering
