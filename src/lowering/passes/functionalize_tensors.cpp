#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>
#include <map>
#include <set>

#include "lowering/graph_walk.h"
#include "lowering/memory/aliases.h"
#include "lowering/memory/memory_layout.h"
#include "lowering/memory/memory_roots.h"
#include "lowering/memory/write_origins.h"
#include "lowering/passes/in_place.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::AliasDb;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// The operator that puts a part back into what slice or select took it from; null for any other view.
const char* scatterOf(const Node& view) {
  static const std::map<std::string, const char*> names = {{"aten::slice", "aten::slice_scatter"},
                                                           {"aten::select", "aten::select_scatter"}};
  const auto found = names.find(view.kind().toQualString());
  const bool of_tensor = found != names.end() && isTensor(*view.input(0));
  return of_tensor ? found->second : nullptr;
}

// True if no two elements are at one place. In expand and unfold they may be: a write to a part shows in other parts.
bool hasElementsApart(const Value& value) {
  static const std::set<std::string> views = {"aten::reshape",   "aten::slice",     "aten::select",   "aten::narrow",
                                              "aten::permute",   "aten::transpose", "aten::t",        "aten::squeeze",
                                              "aten::unsqueeze", "aten::flatten",   "aten::unflatten"};
  return makesMemory(value) ||
         (views.count(value.node()->kind().toQualString()) != 0 && hasElementsApart(*value.node()->input(0)));
}

// Answered alike before and after any write to elements.
bool asksForType(const Node& node) {
  static const std::set<std::string> kinds = {"prim::dtype", "prim::device", "prim::layout", "aten::size",
                                              "aten::dim",   "aten::numel",  "aten::len",    "aten::is_floating_point"};
  return kinds.count(node.kind().toQualString()) != 0;
}

// True if only the write itself, or the view between it and this one, uses the view.
bool servesOnlyOneWrite(const Value* view) {
  return std::count_if(view->uses().begin(), view->uses().end(),
                       [](const Use& use) { return !asksForType(*use.user); }) == 1;
}

// True if the node is in a loop that the outer block is not in: then "before" may also be "after".
bool loopBetween(const Node* node, const torch::jit::Block* outer) {
  bool loop = false;
  for (const torch::jit::Block* block = node->owningBlock(); block != outer;
       block = block->owningNode()->owningBlock()) {
    if (!block->owningNode()) {
      return false;  // the block does not enclose the node
    }
    loop |= block->owningNode()->kind() != prim::If;
  }
  return loop;
}

bool isOwnedElsewhere(const Value* value) {
  const auto kind = value->node()->kind();
  return kind == prim::Param || kind == prim::Constant || kind == prim::GetAttr;
}

void collectValues(torch::jit::Block* block, std::vector<Value*>* values) {
  for (Value* input : block->inputs()) {
    values->push_back(input);
  }
  for (Node* node : block->nodes()) {
    for (Value* output : node->outputs()) {
      values->push_back(output);
    }
    for (torch::jit::Block* inner : node->blocks()) {
      collectValues(inner, values);
    }
  }
}

class TensorFunctionalizer {
 public:
  explicit TensorFunctionalizer(GraphPtr graph)
      : graph_(std::move(graph)),
        aliases_(aliasesOf(graph_)),
        secrets_(secretAliasesOf(*graph_)),
        roots_(*graph_),
        deciders_of_layout_(decidersOfLayout(graph_->block(), writesThatShow(*graph_))) {
    collectValues(graph_->block(), &values_);
    std::erase_if(values_, [](const Value* value) { return !isMutable(*value->type()); });
  }

  bool run() {
    bool changed = false;
    forEachNode(graph_->block(), [&](Node* node) { changed |= isInPlace(*node) && functionalize(node); });
    return changed;
  }

  // One write to a part of a tensor at most: afterwards the alias information is old.
  bool runThroughViews() {
    bool changed = false;
    forEachNode(graph_->block(),
                [&](Node* node) { changed = changed || (isInPlace(*node) && writeThroughViews(node)); });
    return changed;
  }

 private:
  // Nothing can have got a share in the memory of a value that nobody has used yet. libtorch takes it for shared with
  // whatever has been in a list, if it is put into one itself later.
  static bool hasOneName(const Node* node, const Value* mutated, const std::set<const Value*>& views) {
    return makesMemory(*mutated) && std::all_of(mutated->uses().begin(), mutated->uses().end(), [&](const Use& use) {
             return use.user == node || use.user->isAfter(node) || asksForType(*use.user) ||
                    (use.user->outputs().size() == 1 && views.count(use.user->output()) != 0);
           });
  }

  bool mayShare(const Value* a, const Value* b) {
    return !roots_.areDisjoint(a, b) && aliases_.mayContainAlias(const_cast<Value*>(a), const_cast<Value*>(b));
  }

  // True if an operator such as type_as may give its operand as this value: schemas do not say so.
  bool hasSecretName(const Value* mutated) {
    return std::any_of(secrets_.begin(), secrets_.end(), [&](const auto& secret) {
      return mayShare(mutated, secret.first) || mayShare(mutated, secret.second);
    });
  }

  // Nobody may see the write but through the mutated value itself: no other value that may share its memory is read
  // afterwards, and none belongs to the caller, a constant, or another block.
  bool writeIsPrivate(Node* node, Value* mutated, const std::set<const Value*>& views = {}) {
    if (isOwnedElsewhere(mutated) || hasSecretName(mutated) || mutated->node()->owningBlock() != node->owningBlock()) {
      return false;
    }
    if (hasOneName(node, mutated, views)) {
      return true;
    }
    return std::all_of(values_.begin(), values_.end(), [&](Value* value) {
      // A later value is made from the written value, or from a value that is read later itself.
      if (value == mutated || views.count(value) != 0 || value->node() == node || value->node()->isAfter(node) ||
          !mayShare(mutated, value)) {
        return true;
      }
      if (isOwnedElsewhere(value) || loopBetween(node, value->node()->owningBlock())) {
        return false;
      }
      return std::none_of(value->uses().begin(), value->uses().end(),
                          [&](const Use& use) { return use.user == node || use.user->isAfter(node); });
    });
  }

  // An in-place operator leaves gaps between its operand's elements where they are, a functional one makes none.
  bool showsGaps(const Value* mutated) const {
    return !makesMemory(*mutated) && deciders_of_layout_.count(mutated->node()) != 0;
  }

  // The alias information stays that of the graph before all changes: a functional result is still said to share memory
  // with what its in-place form wrote to, which errs on the safe side.
  bool functionalize(Node* node) {
    const bool is_hidden = !showsGaps(node->input(0)) && writeIsPrivate(node, node->input(0));
    Node* functional = is_hidden ? functionalForm(*graph_, *node) : nullptr;
    if (!functional) {
      return false;
    }
    Value* mutated = node->input(0);
    functional->insertBefore(node);
    functional->copyMetadata(node);
    functional->output()->setType(node->output()->type());
    Value* result = keepType(*graph_, *functional, mutated);
    for (const Use& use : std::vector<Use>(mutated->uses())) {
      if (use.user != node && use.user->isAfter(node)) {
        use.user->replaceInput(use.offset, result);
      }
    }
    if (node->output()->hasDebugName()) {
      result->copyMetadata(node->output());
    }
    Value* written = node->output();
    written->replaceAllUsesWith(result);
    aliases_.replaceWithNewValue(written, result);
    std::replace(values_.begin(), values_.end(), written, result);
    roots_.replace(written, result);
    for (auto& [operand, given] : secrets_) {
      operand = operand == written ? result : operand;
    }
    deciders_of_layout_.erase(node);
    node->destroy();
    return true;
  }

  // x[:, 0] = y: the part is computed anew and put back, view by view, into the tensor that it belongs to, if the views
  // serve nothing but this write.
  bool writeThroughViews(Node* node) {
    std::vector<Node*> views;
    std::set<const Value*> taken;
    Value* whole = node->input(0);
    while (scatterOf(*whole->node()) && servesOnlyOneWrite(whole) &&
           whole->node()->owningBlock() == node->owningBlock()) {
      taken.insert(whole);
      views.push_back(whole->node());
      whole = whole->node()->input(0);
    }
    if (views.empty() || node->output()->hasUses() || !hasElementsApart(*whole) ||
        !writeIsPrivate(node, whole, taken)) {
      return false;
    }
    Node* functional = functionalForm(*graph_, *node);
    if (!functional) {
      return false;
    }
    functional->insertBefore(node);
    functional->copyMetadata(node);
    Value* part = keepType(*graph_, *functional, node->input(0));
    torch::jit::WithInsertPoint guard(node);
    for (Node* view : views) {
      std::vector<Value*> inputs = view->inputs().vec();
      inputs.insert(inputs.begin() + 1, part);
      Node* scatter = graph_->insertNode(graph_->create(c10::Symbol::fromQualString(scatterOf(*view)), inputs));
      scatter->copyMetadata(node);
      part = scatter->output();
    }
    for (const Use& use : std::vector<Use>(whole->uses())) {
      if (use.user != node && use.user->isAfter(node)) {
        use.user->replaceInput(use.offset, part);
      }
    }
    node->destroy();
    return true;
  }

  GraphPtr graph_;
  AliasDb aliases_;
  std::vector<Value*> values_;
  SecretAliases secrets_;
  MemoryRoots roots_;
  std::unordered_set<const Node*> deciders_of_layout_;
};

}  // namespace

// Each look costs the alias information anew, so none is for nothing.
bool functionalizeTensors(const GraphPtr& graph) {
  const auto has_writes = [&graph] {
    bool found = false;
    forEachNode(graph->block(), [&](const Node* node) { found |= isInPlace(*node); });
    return found;
  };
  bool changed = has_writes() && TensorFunctionalizer(graph).run();
  while (has_writes() && TensorFunctionalizer(graph).runThroughViews()) {
    changed = true;
  }
  if (changed && has_writes()) {
    TensorFunctionalizer(graph).run();
  }
  return changed;
}

}  // namespace torchtrt::lowering
