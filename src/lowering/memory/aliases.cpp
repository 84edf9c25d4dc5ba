#include "lowering/memory/aliases.h"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include <torch/script.h>

#include "lowering/graph_walk.h"
#include "lowering/memory/write_origins.h"

namespace torchtrt::lowering {

namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// The analysis takes a branch for whatever its blocks give. So while this lives, values that loops carry are branches:
// what a body gives is "that, or what this trip was given", and what a loop is given is "that, or what a trip may give
// of what lies outside".
class LoopsAsBranches {
 public:
  explicit LoopsAsBranches(Graph& graph) : graph_(graph) {
    add(graph.block());
  }
  ~LoopsAsBranches() {
    for (auto added = added_.rbegin(); added != added_.rend(); ++added) {
      added->user->replaceInput(added->offset, added->given);
      added->branch->destroy();
      added->condition->destroy();
    }
  }
  LoopsAsBranches(const LoopsAsBranches&) = delete;
  LoopsAsBranches& operator=(const LoopsAsBranches&) = delete;

 private:
  struct Added {
    Node* user;
    size_t offset;
    Value* given;
    Node* condition;
    Node* branch;
  };

  void add(Block* block) {
    for (Node* node : std::vector<Node*>(block->nodes().begin(), block->nodes().end())) {
      for (Block* inner : node->blocks()) {
        add(inner);
      }
      if (node->kind() == prim::Loop) {
        addLoop(*node);
      }
    }
  }

  // A loop takes its number of trips, whether to begin, and the carried values; its body the trip's number and the
  // carried values; a body gives whether to go on, and the carried values.
  void addLoop(Node& loop) {
    Block& body = *loop.blocks().at(0);
    for (size_t i = 1; i < body.outputs().size(); ++i) {
      if (!isMutable(*body.outputs()[i]->type())) {
        continue;
      }
      std::set<Value*> outside;
      std::set<const Value*> seen;
      collectOutside(*body.outputs()[i], loop, outside, seen);
      outside.erase(loop.input(i + 1));
      for (Value* other : outside) {
        replaceInput(loop, i + 1, *other);
      }
      if (body.outputs()[i] != body.inputs()[i]) {
        replaceInput(*body.return_node(), i, *body.inputs()[i]);
      }
    }
  }

  // Values outside of the loop that the value may be, or be a view of.
  void collectOutside(Value& value, Node& loop, std::set<Value*>& outside, std::set<const Value*>& seen) {
    if (!isMutable(*value.type()) || !seen.insert(&value).second) {
      return;
    }
    Block& body = *loop.blocks().at(0);
    Node& node = *value.node();
    if (!isInside(node, loop)) {
      outside.insert(&value);
    } else if (&node == body.param_node()) {
      outside.insert(loop.input(value.offset() + 1));
    } else if (node.kind() == prim::Param) {  // of a loop in the loop
      collectOutside(*node.owningBlock()->owningNode()->input(value.offset() + 1), loop, outside, seen);
    } else if (node.blocks().empty()) {
      collectFromOperator(node, value.offset(), loop, outside, seen);
    } else {
      for (Block* inner : node.blocks()) {
        const size_t first = node.kind() == prim::Loop ? 1 : 0;
        collectOutside(*inner->outputs().at(value.offset() + first), loop, outside, seen);
      }
      if (node.kind() == prim::Loop) {
        collectOutside(*node.input(value.offset() + 2), loop, outside, seen);
      }
    }
  }

  // An operator of ATen whose schema says so makes its result anew.
  void collectFromOperator(Node& node, size_t offset, Node& loop, std::set<Value*>& outside,
                           std::set<const Value*>& seen) {
    const auto* schema = node.kind().is_aten() ? node.maybeSchema() : nullptr;
    const bool is_new = schema != nullptr && offset < schema->returns().size() &&
                        schema->returns()[offset].alias_info() == nullptr && isTensor(*node.output(offset));
    if (!is_new) {
      for (Value* input : node.inputs()) {
        collectOutside(*input, loop, outside, seen);
      }
    }
  }

  void replaceInput(Node& user, size_t offset, Value& other) {
    Value* given = user.input(offset);
    torch::jit::WithInsertPoint guard(&user);
    Node* condition = graph_.insertConstant(true)->node();
    Node* branch = graph_.insertNode(graph_.create(prim::If, {condition->output()}, 1));
    branch->addBlock()->registerOutput(given);
    branch->addBlock()->registerOutput(&other);
    branch->output()->setType(given->type());
    user.replaceInput(offset, branch->output());
    added_.push_back({&user, offset, given, condition, branch});
  }

  Graph& graph_;
  std::vector<Added> added_;
};

}  // namespace

torch::jit::AliasDb aliasesOf(const std::shared_ptr<Graph>& graph, bool is_frozen) {
  const LoopsAsBranches loops(*graph);
  return torch::jit::AliasDb(graph, is_frozen);
}

SecretAliases secretAliasesOf(Graph& graph) {
  SecretAliases aliases;
  forEachNode(graph.block(), [&](Node* node) {
    if (!mayReturnOperand(*node)) {
      return;
    }
    // The operand, or the list of operands, comes first; those behind it say of what type or size the result is.
    const auto inputs = node->inputs();
    const auto operand =
        std::find_if(inputs.begin(), inputs.end(), [](const Value* input) { return isMutable(*input->type()); });
    const bool has_one_name = operand != inputs.end() && (*operand)->uses().size() == 1 && makesMemory(**operand);
    if (operand != inputs.end() && !has_one_name) {
      aliases.emplace_back(*operand, node->output());
    }
  });
  return aliases;
}

std::vector<const Value*> secretNamesOf(const Value* value, const torch::jit::AliasDb& aliases,
                                        const SecretAliases& secrets) {
  const auto meet = [&](const Value* a, Value* b) { return aliases.mayContainAlias(const_cast<Value*>(a), b); };
  std::vector<const Value*> names = {value};
  const auto add = [&](const Value* name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (size_t i = 0; i < names.size(); ++i) {
    for (const auto& [operand, result] : secrets) {
      if (meet(names[i], operand)) {
        add(result);
      }
      if (meet(names[i], result)) {
        add(operand);
      }
    }
  }
  names.erase(names.begin());
  return names;
}

bool isWritten(const Value* value, const torch::jit::AliasDb& aliases, const SecretAliases& secrets) {
  const std::function<bool(const Value*)> has_writers = [&](const Value* name) {
    const auto inputs = name->node()->inputs();
    if (aliases.hasWriters(name) || isTensor(*name)) {
      return aliases.hasWriters(name);
    }
    // The analysis tells who writes to a collection itself.
    return name->node()->kind() != prim::ListConstruct || std::any_of(inputs.begin(), inputs.end(), has_writers);
  };
  const auto names = secretNamesOf(value, aliases, secrets);
  return has_writers(value) || std::any_of(names.begin(), names.end(), has_writers);
}

}  // namespace torchtrt::lowering
