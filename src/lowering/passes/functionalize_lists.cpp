#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <set>

#include "lowering/aliases.h"
#include "lowering/graph_walk.h"
#include "lowering/passes/passes.h"

// A list that is made here, and written to only under its own name, is one value after every write: append, extend,
// insert, pop, clear and item assignment become the construction of the next one, and a branch gives the list that its
// side leaves behind. Where both sides leave lists of one length, their elements are merged instead, so that the length
// stays known.

namespace torchtrt::lowering {
namespace {

using torch::jit::AliasDb;
using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;
namespace aten = torch::jit::aten;

enum class Write : uint8_t { kNone, kAppend, kExtend, kSetItem, kInsert, kPop, kClear };

Write writeOf(const Node& node, const Value* list) {
  static const std::map<std::string, Write> writes = {
      {"aten::append", Write::kAppend},     {"aten::extend", Write::kExtend}, {"aten::add_", Write::kExtend},
      {"aten::_set_item", Write::kSetItem}, {"aten::insert", Write::kInsert}, {"aten::pop", Write::kPop},
      {"aten::clear", Write::kClear}};
  const auto found = writes.find(node.kind().toQualString());
  return found == writes.end() || node.inputs().empty() || node.input(0) != list ? Write::kNone : found->second;
}

bool onlyReads(const Node& node) {
  return node.kind().is_aten() || node.kind() == prim::ListUnpack;
}

// Makes a list that nobody else has.
bool makesList(const Node& node) {
  static const std::set<std::string> kinds = {"aten::copy", "aten::list", "aten::add", "aten::slice", "aten::mul"};
  const bool is_list = node.outputs().size() == 1 && node.output()->type()->kind() == c10::TypeKind::ListType;
  return is_list && (node.kind() == prim::ListConstruct || kinds.count(node.kind().toQualString()) != 0);
}

std::optional<int64_t> constantInt(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isInt() ? std::optional(constant->toInt()) : std::nullopt;
}

// The place that the node names, counted from the front, among so many elements.
std::optional<size_t> placeIn(const Node& node, size_t length) {
  const auto index = constantInt(node.input(1));
  const int64_t count = static_cast<int64_t>(length);
  if (!index || *index < -count || *index >= count) {
    return std::nullopt;
  }
  return static_cast<size_t>(*index < 0 ? *index + count : *index);
}

class ListFunctionalizer {
 public:
  ListFunctionalizer(Graph& graph, const AliasDb& aliases, Value* list)
      : graph_(graph), aliases_(aliases), list_(list) {}

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

  // Whether all writes are under the list's own name, and all that keep the list are behind them.
  bool isPrivate() {
    std::vector<const Node*> keepers;
    std::set<const Node*> writers;
    for (const Use& use : list_->uses()) {
      const auto* schema = use.user->maybeSchema();
      if (writeOf(*use.user, list_) != Write::kNone && use.offset == 0) {
        writers.insert(use.user);
      } else if (schema && schema->is_mutable({c10::SchemaArgType::input, use.offset})) {
        return false;
      } else if (schema && schema->is_mutable() ? writeOf(*use.user, use.user->input(0)) != Write::kExtend
                                                : !onlyReads(*use.user)) {
        keepers.push_back(use.user);  // an element of another list, say
      }
    }
    const bool kept_before = std::any_of(keepers.begin(), keepers.end(), [&](const Node* keeper) {
      return std::any_of(writers.begin(), writers.end(), [&](const Node* writer) { return !keeper->isAfter(writer); });
    });
    return !kept_before && !othersWrite(*graph_.block(), writers);
  }

  bool othersWrite(Block& block, const std::set<const Node*>& known) {
    return std::any_of(block.nodes().begin(), block.nodes().end(), [&](Node* node) {
      if (!node->blocks().empty()) {
        return std::any_of(node->blocks().begin(), node->blocks().end(),
                           [&](Block* inner) { return othersWrite(*inner, known); });
      }
      return known.count(node) == 0 && aliases_.writesToAlias(node, {list_});
    });
  }

  // The construction or constant that says what the list starts with; null where nothing does.
  const Value* beginning() const {
    const Value* list = list_;
    while ((list->node()->kind() == aten::copy || list->node()->kind() == aten::list) &&
           !aliases_.hasWriters(list->node()->input(0))) {
      list = list->node()->input(0);
    }
    const auto constant = torch::jit::toIValue(list);
    const bool known = list->node()->kind() == prim::ListConstruct || (constant && constant->isIntList());
    return known && (list == list_ || !aliases_.hasWriters(list)) ? list : nullptr;
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
    if (added == list_ || added->node()->kind() != prim::ListConstruct || aliases_.hasWriters(added)) {
      return std::nullopt;
    }
    return added->node()->inputs().vec();
  }

  // What the writes make of the length; false where one of them needs to know more.
  bool canFollow(const Block& block, Iterator from, std::optional<size_t>& length) {
    for (Iterator it = from; it != const_cast<Block&>(block).nodes().end(); ++it) {
      const Node* node = *it;
      if (writeOf(*node, list_) != Write::kNone) {
        if (!canWrite(*node, length)) {
          return false;
        }
        continue;
      }
      std::vector<std::optional<size_t>> lengths;
      for (const Block* inner : node->blocks()) {
        lengths.push_back(length);
        if (!canFollow(*inner, const_cast<Block*>(inner)->nodes().begin(), lengths.back())) {
          return false;
        }
        if (node->kind() != prim::If && writesWithin(*inner)) {
          return false;  // a loop would copy the list at every trip
        }
      }
      if (lengths.size() == 2) {
        length = lengths[0] == lengths[1] ? lengths[0] : std::nullopt;
      }
    }
    return true;
  }

  bool canWrite(const Node& node, std::optional<size_t>& length) const {
    switch (writeOf(node, list_)) {
      case Write::kAppend:
        length = length ? std::optional(*length + 1) : length;
        return true;
      case Write::kExtend: {
        const auto added = addedElements(node);
        length = length && added ? std::optional(*length + added->size()) : std::nullopt;
        return true;
      }
      case Write::kSetItem:
        return length && placeIn(node, *length);
      case Write::kInsert: {
        const bool known = length && placeIn(node, *length);
        length = known ? std::optional(*length + 1) : length;
        return known;
      }
      case Write::kPop: {
        const bool known = length && placeIn(node, *length);
        length = known ? std::optional(*length - 1) : length;
        return known;
      }
      case Write::kClear:
        length = 0;
        return true;
      case Write::kNone:
        break;
    }
    return false;
  }

  bool writesWithin(const Block& block) const {
    return std::any_of(block.nodes().begin(), block.nodes().end(), [&](const Node* node) {
      return writeOf(*node, list_) != Write::kNone ||
             std::any_of(node->blocks().begin(), node->blocks().end(),
                         [&](const Block* inner) { return writesWithin(*inner); });
    });
  }

  void follow(Block& block, Iterator from, State& state) {
    for (Iterator it = from; it != block.nodes().end();) {
      Node* node = *it++;
      if (writeOf(*node, list_) != Write::kNone) {
        write(*node, state);
        continue;
      }
      if (node->kind() == prim::If && (writesWithin(*node->blocks()[0]) || writesWithin(*node->blocks()[1]))) {
        followBranches(*node, state);
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
    const auto type = list_->type()->expectRef<c10::ListType>().getElementType();
    std::vector<Value*> elements;
    for (size_t i = 0; i < sides[0].elements->size(); ++i) {
      elements.push_back(merge((*sides[0].elements)[i], (*sides[1].elements)[i], type));
    }
    torch::jit::WithInsertPoint guard(node.next());
    state = construct(std::move(elements), node);
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
    if (writeOf(node, list_) == Write::kExtend) {
      extend(node, state);
    } else if (!state.elements && writeOf(node, list_) == Write::kAppend) {
      state = concatenate(state.list, construct({node.input(1)}, node).list, node);
    } else {
      std::vector<Value*> elements = state.elements.value_or(std::vector<Value*>());
      edit(node, elements);
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

  void edit(Node& node, std::vector<Value*>& elements) {
    const auto at = [&] { return elements.begin() + static_cast<std::ptrdiff_t>(*placeIn(node, elements.size())); };
    switch (writeOf(node, list_)) {
      case Write::kAppend:
        elements.push_back(node.input(1));
        break;
      case Write::kSetItem:
        *at() = node.input(2);
        break;
      case Write::kInsert:
        elements.insert(at(), node.input(2));
        break;
      case Write::kPop: {
        const auto popped = at();
        node.output()->replaceAllUsesWith(*popped);
        elements.erase(popped);
        break;
      }
      case Write::kClear:
        elements.clear();
        break;
      case Write::kExtend:
      case Write::kNone:
        break;
    }
  }

  Graph& graph_;
  const AliasDb& aliases_;
  Value* list_;
};

bool isListWritten(const Value* list) {
  return std::any_of(list->uses().begin(), list->uses().end(),
                     [&](const Use& use) { return use.offset == 0 && writeOf(*use.user, list) != Write::kNone; });
}

// append and its like give the list back, which would be a second name of it.
bool givesItsOperand(const Node& node) {
  return node.outputs().size() == 1 && writeOf(node, node.inputs().empty() ? nullptr : node.input(0)) != Write::kNone &&
         node.kind() != c10::Symbol::fromQualString("aten::pop") &&
         node.input(0)->type()->kind() == c10::TypeKind::ListType;
}

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
  auto aliases = std::unique_ptr<AliasDb>(new AliasDb(aliasesOf(graph)));
  for (Value* list : written) {
    if (ListFunctionalizer(*graph, *aliases, list).run()) {
      changed = true;
      aliases = std::unique_ptr<AliasDb>(new AliasDb(aliasesOf(graph)));
    }
  }
  return changed;
}

}  // namespace torchtrt::lowering
