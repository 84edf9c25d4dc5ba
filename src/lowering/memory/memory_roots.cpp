#include "lowering/memory/memory_roots.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lowering/graph_walk.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// Results hold what the operands hold, or parts of it, and nothing else.
bool passesOn(const Node& node) {
  static const std::set<c10::Symbol> kinds = {prim::ListConstruct, prim::ListUnpack, prim::TupleConstruct,
                                              prim::TupleUnpack,   prim::TupleIndex, prim::TupleSlice,
                                              prim::unchecked_cast};
  return kinds.count(node.kind()) != 0;
}

// Pieces of unsafe_chunk and its like may be written to as if they were copies: that is what makes it unsafe.
bool givesPieces(const Node& node) {
  static const std::set<std::string> kinds = {"aten::unsafe_chunk", "aten::unsafe_split",
                                              "aten::unsafe_split_with_sizes"};
  return node.kind() == prim::ListUnpack && kinds.count(node.input()->node()->kind().toQualString()) != 0;
}

// An operator of ATen that puts nothing into a list.
bool isKnown(const Node& node) {
  const auto* schema = node.maybeSchema();
  if (!schema || !node.kind().is_aten() || schema->is_varret() || schema->is_vararg()) {
    return false;
  }
  for (size_t i = 0; i < schema->arguments().size(); ++i) {
    if (schema->is_mutable({c10::SchemaArgType::input, i}) && !isTensor(*node.input(i))) {
      return false;
    }
  }
  return true;
}

bool mayChangeLists(const Node& node) {
  static const std::set<c10::Symbol> kinds = {prim::If, prim::Loop, prim::GetAttr, prim::SetAttr, prim::Return};
  return kinds.count(node.kind()) == 0 && !passesOn(node) && !isKnown(node);
}

}  // namespace

MemoryRoots::MemoryRoots(torch::jit::Graph& graph) {
  forEachNode(graph.block(), [this](Node* node) {
    const auto inputs = node->inputs();
    lists_change_ |= mayChangeLists(*node) && std::any_of(inputs.begin(), inputs.end(), [](const Value* input) {
                       return isMutable(*input->type()) && !isTensor(*input);
                     });
  });
  visit(graph.block());
}

// Block inputs and what is not known below are unknown: they have no entry.
void MemoryRoots::visit(Block* block) {
  for (Node* node : block->nodes()) {
    visit(node);
  }
}

void MemoryRoots::visit(Node* node) {
  for (Block* inner : node->blocks()) {
    visit(inner);
  }
  if (node->kind() == prim::If) {
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      Roots both = rootsOf(node->blocks()[0]->outputs()[i]);
      const Roots& other = rootsOf(node->blocks()[1]->outputs()[i]);
      both.insert(other.begin(), other.end());
      note(node->output(i), std::move(both));
    }
  } else if (givesPieces(*node)) {
    for (const Value* output : node->outputs()) {
      note(output, {output});
    }
  } else if (passesOn(*node)) {
    for (const Value* output : node->outputs()) {
      note(output, unionOf({node->inputs().begin(), node->inputs().end()}));
    }
  } else if (isKnown(*node)) {
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      note(node->output(i), sharedWith(*node, i));
    }
  } else {
    for (const Value* input : node->inputs()) {
      letEscape(input);
    }
    for (Block* inner : node->blocks()) {
      for (const Value* output : inner->outputs()) {
        letEscape(output);
      }
    }
  }
}

void MemoryRoots::note(const Value* value, Roots roots) {
  if (lists_change_ && !isTensor(*value)) {
    roots.insert(nullptr);
  }
  roots_[value] = std::move(roots);
}

MemoryRoots::Roots MemoryRoots::unionOf(const std::vector<const Value*>& values) const {
  Roots all;
  for (const Value* value : values) {
    if (isMutable(*value->type())) {
      const Roots& roots = rootsOf(value);
      all.insert(roots.begin(), roots.end());
    }
  }
  return all;
}

// A view says in its schema what it is a view of. Operators that take lists may hand on their elements without saying
// so.
MemoryRoots::Roots MemoryRoots::sharedWith(const Node& node, size_t output) const {
  const auto& schema = node.schema();
  const bool is_view = schema.returns()[output].alias_info() != nullptr;
  std::vector<const Value*> sources;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const bool from_list = !isTensor(*node.input(i)) && (is_view || !isTensor(*node.output(output)));
    if (from_list || (is_view && schema.arguments()[i].alias_info())) {
      sources.push_back(node.input(i));
    }
  }
  Roots roots = unionOf(sources);
  if (!is_view) {
    roots.insert(node.output(output));
  } else if (roots.empty()) {
    roots.insert(nullptr);
  }
  return roots;
}

const MemoryRoots::Roots& MemoryRoots::rootsOf(const Value* value) const {
  static const Roots unknown = {nullptr};
  const auto found = roots_.find(value);
  return found == roots_.end() ? unknown : found->second;
}

void MemoryRoots::letEscape(const Value* value) {
  if (isMutable(*value->type())) {
    const Roots& roots = rootsOf(value);
    escaped_.insert(roots.begin(), roots.end());
  }
}

bool MemoryRoots::reachesUnknown(const Roots& roots) const {
  return roots.count(nullptr) != 0 ||
         std::any_of(roots.begin(), roots.end(), [this](const Value* root) { return escaped_.count(root) != 0; });
}

bool MemoryRoots::areDisjoint(const Value* a, const Value* b) const {
  return !meet(a, b) && !(reachesUnknown(rootsOf(a)) && reachesUnknown(rootsOf(b)));
}

bool MemoryRoots::meet(const Value* a, const Value* b) const {
  const Roots &left = rootsOf(a), &right = rootsOf(b);
  return std::any_of(left.begin(), left.end(),
                     [&](const Value* root) { return root != nullptr && right.count(root) != 0; });
}

void MemoryRoots::replace(const Value* former, const Value* value) {
  roots_[value] = rootsOf(former);
  roots_.erase(former);
}

}  // namespace torchtrt::lowering
