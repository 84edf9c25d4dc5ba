#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>

#include "lowering/pass.h"
#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;
namespace aten = torch::jit::aten;

// A use that reads the list and keeps no reference to it.
bool onlyReads(const Use& use) {
  return use.user->kind().is_aten() || use.user->kind() == prim::ListUnpack;
}

// The elements that the node adds to its first operand, if that can be known here.
std::optional<std::vector<Value*>> addedElements(Node& node) {
  if (node.kind() == aten::append) {
    return std::vector<Value*>{node.inputs()[1]};
  }
  const bool extends = node.kind() == c10::Symbol::fromQualString("aten::extend") || node.kind() == aten::add_;
  if (extends && node.inputs().size() == 2 && node.inputs()[1]->node()->kind() == prim::ListConstruct) {
    return node.inputs()[1]->node()->inputs().vec();
  }
  return std::nullopt;
}

// Writes of any other kind would change what the list holds between its construction and this node.
bool hasOtherWriters(const Value* list, const Node* node) {
  return std::any_of(list->uses().begin(), list->uses().end(), [&](const Use& use) {
    const auto* schema = use.user->maybeSchema();
    const bool writes = schema && schema->is_mutable({c10::SchemaArgType::input, use.offset});
    return use.user != node && writes && use.user->isBefore(node);
  });
}

bool canReplace(const Value* list, const Node* node) {
  const Node* construction = list->node();
  return construction->kind() == prim::ListConstruct && construction->owningBlock() == node->owningBlock() &&
         !hasOtherWriters(list, node) && std::all_of(list->uses().begin(), list->uses().end(), [&](const Use& use) {
           const bool later_return = use.user->kind() == prim::Return && use.user->owningBlock() == node->owningBlock();
           return onlyReads(use) || later_return;
         });
}

// Uses after the node see the new list; those before it the old one.
void replaceLaterUses(Value* list, Node* node, Value* replacement) {
  const std::vector<Use> uses = list->uses();
  for (const Use& use : uses) {
    if (use.user != node && use.user->isAfter(node)) {
      use.user->replaceInput(use.offset, replacement);
    }
  }
}

bool functionalizeBlock(torch::jit::Block* block) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (torch::jit::Block* inner : node->blocks()) {
      changed |= functionalizeBlock(inner);
    }
    const auto added = addedElements(*node);
    if (!added || !canReplace(node->input(0), node)) {
      continue;
    }
    Value* list = node->input(0);
    std::vector<Value*> elements = list->node()->inputs().vec();
    elements.insert(elements.end(), added->begin(), added->end());
    Node* construction = block->owningGraph()->create(prim::ListConstruct, elements)->insertBefore(node);
    construction->copyMetadata(node);
    construction->output()->setType(list->type());
    replaceLaterUses(list, node, construction->output());
    if (!node->outputs().empty()) {
      node->output()->replaceAllUsesWith(construction->output());
    }
    node->destroy();
    changed = true;
  }
  return changed;
}

}  // namespace

bool functionalizeLists(const GraphPtr& graph) {
  return functionalizeBlock(graph->block());
}

}  // namespace torchtrt::lowering
