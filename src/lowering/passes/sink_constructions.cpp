#include <algorithm>
#include <set>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

// libtorch's dead-code elimination walks backwards once. A write to a tensor that a list holds shows in the list, but
// where the list was made before the write, the walk has not yet seen that the tensor is read, and drops the write:
//
//     l = [t]          t.mul_(y)
//     t.mul_(y)   ->   l = [t]
//     return l         return l
//
// The executor runs the same elimination, so what has no writes that can be dropped is what it must be given.

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

bool constructs(const Node& node) {
  static const std::set<c10::Symbol> kinds = {prim::ListConstruct, prim::TupleConstruct, prim::DictConstruct};
  return kinds.count(node.kind()) != 0 && std::any_of(node.inputs().begin(), node.inputs().end(),
                                                      [](const Value* input) { return isMutable(*input->type()); });
}

bool writes(const Node& node) {
  const auto* schema = node.maybeSchema();
  return schema && schema->is_mutable();
}

// True if the user takes elements out, or keeps nothing of this operand and leaves it as it is.
bool onlyReads(const Use& use) {
  const Node& user = *use.user;
  if (user.kind() == prim::ListUnpack || user.kind() == torch::jit::aten::__getitem__) {
    return true;
  }
  const auto* schema = user.kind().is_aten() ? user.maybeSchema() : nullptr;
  return schema && use.offset < schema->arguments().size() && !schema->arguments()[use.offset].alias_info() &&
         std::all_of(schema->returns().begin(), schema->returns().end(),
                     [](const c10::Argument& result) { return !result.alias_info(); });
}

bool asksWhich(const Node& node) {
  return node.kind() == torch::jit::aten::__is__ || node.kind() == torch::jit::aten::__isnot__;
}

// True if another list or tuple with the same elements would do as well. A branch or another list may hand the value
// on, and it may be written to under its other name. The caller writes when all is done.
bool takesAnyLike(const Use& use, bool is_tuple) {
  const bool is_result = use.user == use.user->owningGraph()->return_node();
  return !asksWhich(*use.user) && (is_tuple || onlyReads(use) || is_result);
}

class Sinker {
 public:
  explicit Sinker(Graph& graph) : graph_(graph) {}

  // Backwards, so that what holds a list has sunk before the list does.
  bool run(Block& block) {
    bool changed = false;
    std::vector<Node*> nodes(block.nodes().begin(), block.nodes().end());
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      for (Block* inner : (*node)->blocks()) {
        changed |= run(*inner);
      }
      if (constructs(**node)) {
        changed |= split(**node);
        changed |= sink(**node);
      }
    }
    return changed;
  }

 private:
  // Every reader gets one of its own. A list's other users share one, because a user that is given it twice may
  // compare the two.
  bool split(Node& node) {
    const bool is_tuple = node.kind() == prim::TupleConstruct;
    const std::vector<Use> uses = node.output()->uses();
    const bool is_fixed =
        std::all_of(uses.begin(), uses.end(), [&](const Use& use) { return takesAnyLike(use, is_tuple); });
    if (!is_fixed) {
      return false;
    }
    bool changed = false;
    for (const Use& use : uses) {
      const bool is_reader = is_tuple || onlyReads(use);
      if (is_reader && node.output()->uses().size() > 1) {
        Node* own = graph_.createClone(&node, [](Value* value) { return value; });
        own->insertBefore(use.user);
        use.user->replaceInput(use.offset, own->output());
        changed = true;
      }
    }
    return changed;
  }

  // Moves the node to right before the first node of its block that uses it, or has a user in a block of its own.
  static bool sink(Node& node) {
    Node* first = nullptr;
    for (const Use& use : node.output()->uses()) {
      Node* user = use.user;
      while (user->owningBlock() != node.owningBlock()) {
        user = user->owningBlock()->owningNode();
      }
      first = first == nullptr || user->isBefore(first) ? user : first;
    }
    Node* next = node.next();
    while (next != first && constructs(*next)) {
      next = next->next();
    }
    if (first == nullptr || next == first) {
      return false;
    }
    node.moveBefore(first);
    return true;
  }

  Graph& graph_;
};

}  // namespace

bool sinkConstructions(const GraphPtr& graph) {
  bool has_writes = false;
  forEachNode(graph->block(), [&](Node* node) { has_writes |= writes(*node); });
  return has_writes && Sinker(*graph).run(*graph->block());
}

}  // namespace torchtrt::lowering
