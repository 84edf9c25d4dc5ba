#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/memory/write_origins.h"
#include "lowering/passes/passes.h"

// Folds the question if two values are one object. Scripted modules ask that of query, key and value, and of optional
// values and None. A branch's result is asked of either side; the answer follows from its condition, which shapes may
// decide. For tensors, one known side is enough: the other asks when it is taken.

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace aten = torch::jit::aten;
namespace prim = torch::jit::prim;

// Views that are new tensor objects at every call, if of the same memory.
bool isNewView(const Node& node) {
  static const std::set<std::string> kinds = {"aten::transpose", "aten::permute", "aten::unsqueeze", "aten::squeeze",
                                              "aten::select",    "aten::slice",   "aten::view",      "aten::expand"};
  return kinds.count(node.kind().toQualString()) != 0;
}

bool isNew(const Value& value) {
  return isTensor(value) && value.node()->kind().is_aten() && (isNewView(*value.node()) || makesMemory(value));
}

// An argument, or a constant: there before anything was made.
bool isGiven(const Value& value) {
  const Node& node = *value.node();
  return node.kind() == prim::Constant || (node.kind() == prim::Param && node.owningBlock()->owningNode() == nullptr);
}

bool isNone(const Value& value) {
  return value.mustBeNone();
}

// Returns the value before it was cast, or put into a tuple, or into a list that nobody else sees.
Value* originOf(Value* value) {
  for (;;) {
    Node& node = *value->node();
    const bool unpacks = node.kind() == prim::ListUnpack || node.kind() == prim::TupleUnpack;
    Node* packed = unpacks ? node.input()->node() : nullptr;
    const bool is_whole = packed != nullptr && packed->inputs().size() == node.outputs().size();
    if (node.kind() == prim::unchecked_cast) {
      value = node.input();
    } else if (is_whole && (packed->kind() == prim::TupleConstruct ||
                            (packed->kind() == prim::ListConstruct && packed->output()->uses().size() == 1))) {
      value = packed->input(value->offset());
    } else {
      return value;
    }
  }
}

class Identities {
 public:
  explicit Identities(Graph& graph) : graph_(graph) {}

  // A boolean that says whether they are one object, a constant or what a branch gives; null where nobody knows.
  Value* answer(Value* a, Value* b) {
    return isKnown(originOf(a), originOf(b)) ? build(originOf(a), originOf(b)) : nullptr;
  }

 private:
  using Pair = std::pair<Value*, Value*>;
  struct Sides {
    Node* branch = nullptr;
    std::vector<Pair> pairs;  // one per block
  };

  static Sides sidesOf(Value* a, Value* b) {
    Sides sides;
    const bool a_branches = a->node()->kind() == prim::If;
    const bool b_branches = b->node()->kind() == prim::If;
    if (!a_branches && !b_branches) {
      return sides;
    }
    const bool b_is_later = b_branches && (!a_branches || a->node()->isBefore(b->node()));
    sides.branch = b_is_later ? b->node() : a->node();
    const auto inside = [&](Value* value, Block& block) -> Value* {
      return value->node() == sides.branch ? originOf(block.outputs()[value->offset()]) : value;
    };
    for (Block* block : sides.branch->blocks()) {
      sides.pairs.emplace_back(inside(a, *block), inside(b, *block));
    }
    return sides;
  }

  static std::optional<bool> decide(const Value& a, const Value& b) {
    if (&a == &b || (isNone(a) && isNone(b))) {
      return true;
    }
    const bool is_none_of_tensor = (isNone(a) && isTensor(b)) || (isNone(b) && isTensor(a));
    const bool are_apart = (isNew(a) && (isNew(b) || isGiven(b))) || (isNew(b) && isGiven(a));
    return is_none_of_tensor || are_apart ? std::optional(false) : std::nullopt;
  }

  bool isKnown(Value* a, Value* b) {
    if (decide(*a, *b)) {
      return true;
    }
    const auto [entry, is_new] = known_.try_emplace({a, b}, false);
    if (!is_new) {
      return entry->second;
    }
    const Sides sides = sidesOf(a, b);
    const auto known = std::count_if(sides.pairs.begin(), sides.pairs.end(),
                                     [&](const Pair& pair) { return isKnown(pair.first, pair.second); });
    return known_[{a, b}] = known == 2 || (known == 1 && isTensor(*a) && isTensor(*b));
  }

  Value* build(Value* a, Value* b) {
    if (const auto decided = decide(*a, *b)) {
      return constant(*decided);
    }
    if (const auto built = built_.find({a, b}); built != built_.end()) {
      return built->second;
    }
    const Sides sides = sidesOf(a, b);
    Value* first = buildInside(*sides.branch->blocks()[0], sides.pairs[0]);
    Value* second = buildInside(*sides.branch->blocks()[1], sides.pairs[1]);
    if (first == second) {
      return built_[{a, b}] = first;
    }
    sides.branch->blocks()[0]->registerOutput(first);
    sides.branch->blocks()[1]->registerOutput(second);
    return built_[{a, b}] = sides.branch->addOutput()->setType(c10::BoolType::get());
  }

  // An open question belongs to the method, not to a function that it calls: others may get the same answer.
  Value* buildInside(Block& block, const Pair& pair) {
    if (isKnown(pair.first, pair.second)) {
      return build(pair.first, pair.second);
    }
    Node* const question = graph_.create(aten::__is__, {pair.first, pair.second})->insertBefore(block.return_node());
    return question->output()->setType(c10::BoolType::get());
  }

  Value* constant(bool value) {
    Value*& made = constants_[value ? 1 : 0];
    if (made == nullptr) {
      const torch::jit::WithInsertPoint first(*graph_.nodes().begin());
      made = graph_.insertConstant(value);
    }
    return made;
  }

  Graph& graph_;
  std::map<Pair, bool> known_;
  std::map<Pair, Value*> built_;
  Value* constants_[2] = {nullptr, nullptr};
};

}  // namespace

// Runs before copies and views are dropped, which would give two values one name.
bool foldIdentities(const GraphPtr& graph) {
  Identities identities(*graph);
  bool changed = false;
  forEachNode(graph->block(), [&](Node* node) {
    if (node->kind() != aten::__is__ && node->kind() != aten::__isnot__) {
      return;
    }
    Value* answer = identities.answer(node->input(0), node->input(1));
    if (answer == nullptr) {
      return;
    }
    if (node->kind() == aten::__isnot__) {
      const torch::jit::WithInsertPoint guard(node);
      const auto known = torch::jit::constant_as<bool>(answer);
      answer = known ? graph->insertConstant(!*known) : graph->insert(aten::__not__, {answer});
    }
    node->output()->replaceAllUsesWith(answer);
    node->destroy();
    changed = true;
  });
  return changed;
}

}  // namespace torchtrt::lowering
