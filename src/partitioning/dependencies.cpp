#include "partitioning/dependencies.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "lowering/memory/write_origins.h"

namespace torchtrt::partitioning {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
using torch::jit::ValueSet;

namespace {

template <typename Predicate>
bool anyNode(const Node& node, const Predicate& predicate) {
  return predicate(node) || std::any_of(node.blocks().begin(), node.blocks().end(), [&](const Block* block) {
           return std::any_of(block->nodes().begin(), block->nodes().end(),
                              [&](const Node* inner) { return anyNode(*inner, predicate); });
         });
}

// Effects, random numbers and attributes that change stay in their order.
bool isOrdered(const Node& node) {
  return anyNode(node, [](const Node& inner) {
    return inner.hasSideEffects() || inner.isNondeterministic() || inner.kind() == torch::jit::prim::GetAttr;
  });
}

// True if nothing may move across the node. Nodes between Enter and Exit of an object may mean something else outside.
// Nobody knows what an operator with unknown registered effects does. PyTorch's own side effects do not change what
// other nodes give.
bool isBarrier(const Node& node) {
  static const std::set<c10::Symbol> kModes = {c10::Symbol::fromQualString("aten::set_grad_enabled"),
                                               torch::jit::prim::Enter, torch::jit::prim::Exit};
  const bool is_foreign = !node.kind().is_aten() && !node.kind().is_prim();
  return kModes.count(node.kind()) != 0 || (is_foreign && node.hasSideEffects());
}

// Adds what the node reads or gives, inside of its blocks too, of the memory that somebody writes to.
void addTouched(const Node& node, const Roles& roles, ValueSet& touched) {
  const auto add = [&](c10::ArrayRef<const Value*> values) {
    for (const Value* value : values) {
      roles.addWritten(value, touched);
    }
  };
  add(node.inputs());
  add(node.outputs());
  for (const Block* block : node.blocks()) {
    for (const Node* inner : block->nodes()) {
      addTouched(*inner, roles, touched);
    }
    add(block->outputs());
  }
}

// libtorch takes what is put into a list afterwards for memory that may be anything that has been in one, so what
// writes to one element would seem to write to all that was made for the list.
bool givesNewMemory(const Node& node) {
  const auto outputs = node.outputs();
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const Value* output) { return lowering::makesMemory(*output); });
}

}  // namespace

bool writes(const Node& node) {
  return anyNode(node, [](const Node& inner) {
    const auto* schema = inner.maybeSchema();
    return (schema && schema->is_mutable()) || inner.kind() == torch::jit::prim::SetAttr;
  });
}

BlockDependencies dependenciesOf(const Block& block, const Roles& roles) {
  BlockDependencies result;
  std::unordered_map<const Node*, int> number;
  std::vector<ValueSet> touched;
  std::vector<int> writers;
  int last_ordered = -1;
  int last_barrier = -1;
  for (const Node* node : block.nodes()) {
    if (!roles.isPlaced(*node)) {
      continue;
    }
    const int index = static_cast<int>(result.nodes.size());
    std::set<int> before;
    for (const Value* need : roles.needsOf(*node)) {
      const Node* producer = ancestorIn(block, *need->node());
      const auto found = producer != nullptr ? number.find(producer) : number.end();
      if (found != number.end()) {
        before.insert(found->second);
      }
    }
    touched.emplace_back();
    addTouched(*node, roles, touched.back());
    // Behind the writers of values that it touches and, if it writes itself, behind all nodes that touch the same.
    for (const int writer : writers) {
      if (!touched.back().empty() &&
          roles.aliases().writesToAlias(const_cast<Node*>(result.nodes[static_cast<size_t>(writer)]), touched.back())) {
        before.insert(writer);
      }
    }
    if (writes(*node)) {
      for (int other = 0; other < index; ++other) {
        const ValueSet& values = touched[static_cast<size_t>(other)];
        if (!values.empty() && roles.aliases().writesToAlias(const_cast<Node*>(node), values)) {
          before.insert(other);
        }
      }
      writers.push_back(index);
    }
    if (isOrdered(*node)) {
      if (last_ordered >= 0) {
        before.insert(last_ordered);
      }
      last_ordered = index;
    }
    if (last_barrier >= 0) {
      before.insert(last_barrier);
    }
    if (isBarrier(*node)) {
      for (int other = last_barrier + 1; other < index; ++other) {
        before.insert(other);
      }
      last_barrier = index;
    }
    number[node] = index;
    result.nodes.push_back(node);
    result.predecessors.emplace_back(before.begin(), before.end());
  }
  return result;
}

bool sharesWrittenMemory(const Node& node, const Roles& roles) {
  if (writes(node)) {
    return true;
  }
  if (givesNewMemory(node)) {
    return false;
  }
  const auto& aliases = roles.aliases();
  return std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* output) {
    ValueSet written;
    roles.addWritten(output, written);
    if (roles.isReadBeforeWrites(*output)) {
      return false;
    }
    if (written.empty() || lowering::mayReturnOperand(node)) {
      return !written.empty();
    }
    return std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value* input) {
      return aliases.mayContainAlias(const_cast<Value*>(input), const_cast<Value*>(output));
    });
  });
}

}  // namespace torchtrt::partitioning
