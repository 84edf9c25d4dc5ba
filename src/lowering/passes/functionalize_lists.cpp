#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <set>

#include "lowering/graph_walk.h"
#include "lowering/memory/list_aliases.h"
#include "lowering/passes/known_trips.h"
#include "lowering/passes/list_writes.h"
#include "lowering/passes/passes.h"

// A list that is made here, and written to only under its own name, is one value after every write: append, extend,
// insert, pop, clear and item assignment become the construction of the next one, and a branch gives the list that its
// side leaves behind. Where both sides leave lists of one length, their elements are merged instead, so that the length
// stays known. Loops carry the list, or its elements where no trip changes how many there are.

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;
namespace aten = torch::jit::aten;

class ListFunctionalizer {
 public:
  ListFunctionalizer(Graph& graph, ListAliases& aliases, Value* list) : graph_(graph), aliases_(aliases), list_(list) {}

  bool run() {
    if (!isPrivate()) {
      return false;
    }
    auto length = initialLength();
    Block& block = *list_->node()->owningBlock();
    const auto begin = ++list_->node()->iterator();
    if (!canFollow(block, begin, length)) {
      return false;
    }
    State state{list_, initialElements()};
    follow(block, begin, state);
    return true;
  }

 private:
  using Iterator = torch::jit::graph_node_list_iterator;

  // The list as it is at some place; its elements where they are known.
  struct State {
    Value* list;
    std::optional<std::vector<Value*>> elements;
  };

  // True if all writes are under the list's own name, and all nodes that keep the list are behind them.
  bool isPrivate() {
    std::vector<const Node*> keepers;
    std::set<const Node*> writers;
    for (const Use& use : list_->uses()) {
      const auto* schema = use.user->maybeSchema();
      if (writeOf(*use.user, list_) != ListWrite::kNone && use.offset == 0) {
        writers.insert(use.user);
      } else if (schema && schema->is_mutable({c10::SchemaArgType::input, use.offset})) {
        return false;
      } else if (schema && schema->is_mutable() ? writeOf(*use.user, use.user->input(0)) != ListWrite::kExtend
                                                : !onlyReadsList(*use.user)) {
        keepers.push_back(use.user);  // an element of another list, say
      }
    }
    const bool kept_before = std::any_of(keepers.begin(), keepers.end(), [&](const Node* keeper) {
      return std::any_of(writers.begin(), writers.end(), [&](const Node* writer) {
        return !keeper->isAfter(writer) || isWrittenInNextTrip(*keeper, *writer);
      });
    });
    return !kept_before && (keepers.empty() || !othersWrite(*graph_.block(), writers));
  }

  bool isWrittenInNextTrip(const Node& keeper, const Node& writer) const {
    const Node* outer = keeper.owningBlock()->owningNode();
    while (outer != nullptr && !(outer->kind() == prim::Loop && isInside(writer, *outer))) {
      outer = outer->owningBlock()->owningNode();
    }
    return outer != nullptr && !isInside(*list_->node(), *outer);
  }

  bool othersWrite(Block& block, const std::set<const Node*>& known) {
    return std::any_of(block.nodes().begin(), block.nodes().end(), [&](Node* node) {
      if (!node->blocks().empty()) {
        return std::any_of(node->blocks().begin(), node->blocks().end(),
                           [&](Block* inner) { return othersWrite(*inner, known); });
      }
      return known.count(node) == 0 && aliases_.get().writesToAlias(node, {list_});
    });
  }

  // The construction or constant that says what the list starts with; null where nothing does.
  const Value* beginning() const {
    const Value* list = list_;
    while ((list->node()->kind() == aten::copy || list->node()->kind() == aten::list) &&
           !aliases_.mayBeWritten(list->node()->input(0))) {
      list = list->node()->input(0);
    }
    const auto constant = torch::jit::toIValue(list);
    const bool known = list->node()->kind() == prim::ListConstruct || (constant && constant->isIntList());
    return known && (list == list_ || !aliases_.mayBeWritten(list)) ? list : nullptr;
  }

  std::optional<size_t> initialLength() const {
    const Value* list = beginning();
    if (!list) {
      return std::nullopt;
    }
    const auto constant = torch::jit::toIValue(list);
    return constant ? constant->toIntVector().size() : list->node()->inputs().size();
  }

  std::optional<std::vector<Value*>> initialElements() {
    const Value* list = beginning();
    if (!list) {
      return std::nullopt;
    }
    const auto constant = torch::jit::toIValue(list);
    std::vector<Value*> elements = constant ? std::vector<Value*>() : const_cast<Value*>(list)->node()->inputs().vec();
    if (constant) {
      torch::jit::WithInsertPoint guard(list_->node());
      for (const int64_t element : constant->toIntVector()) {
        elements.push_back(graph_.insertConstant(element));
      }
    }
    return elements;
  }

  // The elements that an extending node adds, where they are the same whenever it runs.
  std::optional<std::vector<Value*>> addedElements(const Node& node) const {
    Value* added = const_cast<Value*>(node.input(1));
    if (added == list_ || added->node()->kind() != prim::ListConstruct || aliases_.mayBeWritten(added)) {
      return std::nullopt;
    }
    return added->node()->inputs().vec();
  }

  // Computes the list's length after the writes; false if one of them needs to know more.
  bool canFollow(const Block& block, Iterator from, std::optional<size_t>& length) {
    for (Iterator it = from; it != const_cast<Block&>(block).nodes().end(); ++it) {
      const Node* node = *it;
      if (writeOf(*node, list_) != ListWrite::kNone) {
        if (!canWrite(*node, length)) {
          return false;
        }
        continue;
      }
      if (node->kind() == prim::Loop && writesWithin(*node->blocks()[0], list_)) {
        if (!canFollowLoop(*node, length)) {
          return false;
        }
        continue;
      }
      std::vector<std::optional<size_t>> lengths;
      for (Block* inner : const_cast<Node*>(node)->blocks()) {
        lengths.push_back(length);
        if (!canFollow(*inner, inner->nodes().begin(), lengths.back()) ||
            (node->kind() != prim::If && writesWithin(*inner, list_))) {
          return false;
        }
      }
      if (lengths.size() == 2) {
        length = lengths[0] == lengths[1] ? lengths[0] : std::nullopt;
      }
    }
    return true;
  }

  // A list whose length no trip changes is carried element by element. Any other is copied at every trip, which is for
  // engines to do.
  bool canFollowLoop(const Node& node, std::optional<size_t>& length) {
    Block& body = *const_cast<Block*>(node.blocks()[0]);
    auto after = length;
    if (length && canFollow(body, body.nodes().begin(), after) && after == length) {
      return true;
    }
    length = std::nullopt;
    const bool can_follow = hasKnownTrips(node) && canFollow(body, body.nodes().begin(), length);
    length = std::nullopt;
    return can_follow;
  }

  bool canWrite(const Node& node, std::optional<size_t>& length) const {
    switch (writeOf(node, list_)) {
      case ListWrite::kAppend:
        length = length ? std::optional(*length + 1) : length;
        return true;
      case ListWrite::kExtend: {
        const auto added = addedElements(node);
        length = length && added ? std::optional(*length + added->size()) : std::nullopt;
        return true;
      }
      case ListWrite::kSetItem:
        return length && placeIn(node, *length);
      case ListWrite::kInsert: {
        const bool known = length && placeIn(node, *length);
        length = known ? std::optional(*length + 1) : length;
        return known;
      }
      case ListWrite::kPop: {
        const bool known = length && placeIn(node, *length);
        length = known ? std::optional(*length - 1) : length;
        return known;
      }
      case ListWrite::kClear:
        length = 0;
        return true;
      case ListWrite::kNone:
        break;
    }
    return false;
  }

  void follow(Block& block, Iterator from, State& state) {
    for (Iterator it = from; it != block.nodes().end();) {
      Node* node = *it++;
      if (writeOf(*node, list_) != ListWrite::kNone) {
        write(*node, state);
        continue;
      }
      if (node->kind() == prim::If &&
          (writesWithin(*node->blocks()[0], list_) || writesWithin(*node->blocks()[1], list_))) {
        followBranches(*node, state);
        continue;
      }
      if (node->kind() == prim::Loop && writesWithin(*node->blocks()[0], list_)) {
        followLoop(*node, state);
        continue;
      }
      for (Block* inner : node->blocks()) {
        follow(*inner, inner->nodes().begin(), state);
      }
      readFrom(*node, state);
    }
    readFrom(*block.return_node(), state);
  }

  void readFrom(Node& node, const State& state) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (node.input(i) == list_) {
        node.replaceInput(i, state.list);
      }
    }
  }

  void followBranches(Node& node, State& state) {
    State sides[2] = {state, state};
    for (size_t i = 0; i < 2; ++i) {
      follow(*node.blocks()[i], node.blocks()[i]->nodes().begin(), sides[i]);
    }
    const auto merge = [&](Value* first, Value* second, const c10::TypePtr& type) {
      if (first == second) {
        return first;
      }
      node.blocks()[0]->registerOutput(first);
      node.blocks()[1]->registerOutput(second);
      return node.addOutput()->setType(type);
    };
    if (!sides[0].elements || !sides[1].elements || sides[0].elements->size() != sides[1].elements->size()) {
      state = {merge(sides[0].list, sides[1].list, list_->type()), std::nullopt};
      return;
    }
    const auto type = elementType();
    std::vector<Value*> elements;
    for (size_t i = 0; i < sides[0].elements->size(); ++i) {
      elements.push_back(merge((*sides[0].elements)[i], (*sides[1].elements)[i], type));
    }
    state = constructBefore(*node.next(), std::move(elements), node);
  }

  void followLoop(Node& node, State& state) {
    readFrom(node, state);
    Block& body = *node.blocks()[0];
    auto length = state.elements ? std::optional(state.elements->size()) : std::nullopt;
    const bool keeps_length =
        length && canFollow(body, body.nodes().begin(), length) && length == state.elements->size();
    const auto carry = [&](Value* value) {
      node.addInput(value);
      return body.addInput()->setType(value->type());
    };
    if (!keeps_length) {
      State inside{carry(state.list), std::nullopt};
      follow(body, body.nodes().begin(), inside);
      body.registerOutput(inside.list);
      state = {node.addOutput()->setType(list_->type()), std::nullopt};
      return;
    }
    std::vector<Value*> elements;
    for (Value* element : *state.elements) {
      elements.push_back(carry(element)->setType(elementType()));
    }
    const auto first = body.nodes().begin();
    State inside = constructBefore(**first, std::move(elements), node);
    follow(body, ++inside.list->node()->iterator(), inside);
    std::vector<Value*> results;
    for (Value* element : *inside.elements) {
      body.registerOutput(element);
      results.push_back(node.addOutput()->setType(elementType()));
    }
    state = constructBefore(*node.next(), std::move(results), node);
  }

  c10::TypePtr elementType() const {
    return list_->type()->expectRef<c10::ListType>().getElementType();
  }

  State constructBefore(Node& place, std::vector<Value*> elements, const Node& origin) {
    const torch::jit::WithInsertPoint guard(&place);
    return construct(std::move(elements), origin);
  }

  State construct(std::vector<Value*> elements, const Node& origin) {
    Node* construction = graph_.insertNode(graph_.create(prim::ListConstruct, elements));
    construction->copyMetadata(const_cast<Node*>(&origin));
    construction->output()->setType(list_->type());
    return {construction->output(), std::move(elements)};
  }

  State concatenate(Value* first, Value* second, const Node& origin) {
    Node* longer = graph_.insertNode(graph_.create(aten::add, {first, second}));
    longer->copyMetadata(const_cast<Node*>(&origin));
    longer->output()->setType(list_->type());
    return {longer->output(), std::nullopt};
  }

  // Puts the next list in front of the node, which goes.
  void write(Node& node, State& state) {
    torch::jit::WithInsertPoint guard(&node);
    if (writeOf(node, list_) == ListWrite::kExtend) {
      extend(node, state);
    } else if (!state.elements && writeOf(node, list_) == ListWrite::kAppend) {
      state = concatenate(state.list, construct({node.input(1)}, node).list, node);
    } else {
      std::vector<Value*> elements = state.elements.value_or(std::vector<Value*>());
      applyWrite(node, elements);
      state = construct(std::move(elements), node);
    }
    node.destroy();
  }

  void extend(Node& node, State& state) {
    const auto added = addedElements(node);
    if (!state.elements || !added) {
      state = concatenate(state.list, node.input(1) == list_ ? state.list : node.input(1), node);
      return;
    }
    std::vector<Value*> elements = *state.elements;
    elements.insert(elements.end(), added->begin(), added->end());
    state = construct(std::move(elements), node);
  }

  Graph& graph_;
  ListAliases& aliases_;
  Value* list_;
};

}  // namespace

// A list at a time: afterwards the alias information is old.
bool functionalizeLists(const GraphPtr& graph) {
  bool changed = false;
  std::vector<Value*> written;
  forEachNode(graph->block(), [&](Node* node) {
    if (givesItsOperand(*node) && node->output()->hasUses()) {
      node->output()->replaceAllUsesWith(node->input(0));
      changed = true;
    }
    if (makesList(*node) && isListWritten(node->output())) {
      written.push_back(node->output());
    }
  });
  ListAliases aliases(graph);
  for (Value* list : written) {
    if (ListFunctionalizer(*graph, aliases, list).run()) {
      changed = true;
      aliases.forget();
    }
  }
  return changed;
}

}  // namespace torchtrt::lowering
