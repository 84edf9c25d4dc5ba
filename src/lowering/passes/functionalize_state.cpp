#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/memory/memory_layout.h"
#include "lowering/memory/state_memory.h"
#include "lowering/memory/write_origins.h"
#include "lowering/passes/in_place.h"
#include "lowering/passes/late_writes.h"
#include "lowering/passes/passes.h"
#include "lowering/passes/view_functionalizer.h"
#include "lowering/passes/views.h"

// Buffers and arguments that a method writes to in place: caches, running statistics, streams. The writes stay, as
// copies into the buffer, and whoever reads it behind them reads what was computed. The copies come late, so that they
// cut nothing:
//
//     y = x.relu()                     y = x.relu()
//     self.mean.mul_(0.9)              mean = self.mean
//     self.mean.add_(y.mean())         first = mean * 0.9
//     return y - self.mean      ->     second = first + y.mean()
//                                      result = y - second
//                                      mean.copy_(second)
//                                      return result

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

using Names = std::set<std::string>;

void removeSetsToItself(Graph& graph) {
  forEachNode(graph.block(), [](Node* node) {
    if (node->kind() == prim::SetAttr && setsToItself(*node)) {
      node->destroy();
    }
  });
}

// Those of the tensors that in-place operators write to.
Names writtenOf(Graph& graph, const Names& tensors) {
  Names written;
  forEachNode(graph.block(), [&](const Node* node) {
    const std::string name = isInPlace(*node) ? attributeName(*rootOf(const_cast<Value*>(node->input(0)))) : "";
    if (tensors.count(name) != 0) {
      written.insert(name);
    }
  });
  return written;
}

// One read of each attribute, at the top, since no method sets it.
std::map<std::string, Value*> readOnce(Graph& graph, const Names& names) {
  std::map<std::string, std::vector<Value*>> reads;
  forEachNode(graph.block(), [&](Node* node) {
    if (node->kind() == prim::GetAttr && isTensor(*node->output())) {
      reads[attributeName(*node->output())].push_back(node->output());
    }
  });
  std::map<std::string, Value*> roots;
  for (const auto& [name, values] : reads) {
    if (names.count(name) == 0) {
      continue;
    }
    const torch::jit::WithInsertPoint top(*graph.block()->nodes().begin());
    Value* owner = values.front()->node()->input();
    std::vector<Node*> path = {values.front()->node()};
    for (; owner->node()->kind() == prim::GetAttr; owner = owner->node()->input()) {
      path.push_back(owner->node());
    }
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      Node* read = graph.createClone(*step, [&](Value*) { return owner; });
      owner = graph.insertNode(read)->output();
    }
    for (Value* value : values) {
      value->replaceAllUsesWith(owner);
      value->node()->destroy();
    }
    roots[name] = owner;
  }
  return roots;
}

// Tensors among the arguments that in-place operators write to.
std::vector<Value*> writtenArguments(Graph& graph) {
  std::set<const Value*> written;
  forEachNode(graph.block(), [&](const Node* node) {
    if (isInPlace(*node)) {
      written.insert(rootOf(const_cast<Value*>(node->input(0))));
    }
  });
  std::vector<Value*> arguments;
  std::copy_if(graph.inputs().begin(), graph.inputs().end(), std::back_inserter(arguments),
               [&](const Value* input) { return isTensor(*input) && written.count(input) != 0; });
  return arguments;
}

// True if everything that the graph writes to is one of these, or made in the graph.
bool writesNothingElse(Graph& graph, const std::set<const Value*>& roots) {
  bool nothing = true;
  forEachNode(graph.block(), [&](const Node* node) {
    const auto* schema = node->maybeSchema();
    for (size_t i = 0; schema != nullptr && i < schema->arguments().size(); ++i) {
      if (schema->is_mutable({c10::SchemaArgType::input, i}) && holdsTensors(node->input(i)->type())) {
        Value* root = rootOf(const_cast<Value*>(node->input(i)));
        nothing &= roots.count(root) != 0 || makesMemory(*root) || root->node()->kind() == prim::ListConstruct;
      }
    }
    const bool calls =
        node->kind() == prim::CallMethod || node->kind() == prim::CallFunction || node->kind() == prim::fork;
    nothing &= !calls && (schema != nullptr || node->kind().is_prim());
  });
  return nothing;
}

bool isOverwritten(const Use& use) {
  static const std::set<std::string> kinds = {"aten::copy_", "aten::fill_", "aten::zero_"};
  return use.offset == 0 && kinds.count(use.user->kind().toQualString()) != 0;
}

// True if somebody reads the memory behind a write: else nothing is gained.
bool isReadBehindWrites(const ViewFamily& family) {
  const auto& writes = family.writes();
  return std::any_of(family.members().begin(), family.members().end(), [&](const Value* member) {
    return std::any_of(member->uses().begin(), member->uses().end(), [&](const Use& use) {
      const auto outputs = use.user->outputs();
      const bool is_view =
          !isInPlace(*use.user) &&
          std::any_of(outputs.begin(), outputs.end(), [&](const Value* output) { return family.has(output); });
      return !is_view && !isOverwritten(use) &&
             std::any_of(writes.begin(), writes.end(), [&](const Node* write) { return use.user->isAfter(write); });
    });
  });
}

// Returns those of the tensors whose writes have become copies.
std::vector<Value*> functionalizeWrites(Graph& graph, const std::vector<Value*>& tensors) {
  const auto deciders = decidersOfLayout(graph.block(), writesThatShow(graph));
  std::vector<Value*> changed;
  for (Value* value : tensors) {
    const auto family = ViewFamily::of(*value, ViewFamily::Owner::kElsewhere);
    if (family && !showsLayout(*family, deciders) && isReadBehindWrites(*family)) {
      functionalize(graph, *family, /*keeps_writes=*/true);
      changed.push_back(value);
    }
  }
  return changed;
}

}  // namespace

bool functionalizeState(const GraphPtr& graph, const Names& tensors_apart) {
  removeSetsToItself(*graph);
  removeWholeSlices(*graph);
  const std::map<std::string, Value*> reads = readOnce(*graph, writtenOf(*graph, tensors_apart));
  std::set<const Value*> roots;
  for (const auto& [name, value] : reads) {
    roots.insert(value);
  }
  if (roots.empty() || !writesNothingElse(*graph, roots)) {
    return true;
  }
  std::vector<Value*> values;
  for (const auto& [name, value] : reads) {
    values.push_back(value);
  }
  functionalizeWrites(*graph, values);
  delayWrites(*graph, roots);
  return true;
}

std::vector<size_t> functionalizeArguments(const GraphPtr& graph) {
  if (std::any_of(graph->inputs().begin(), graph->inputs().end(),
                  [](const Value* input) { return !isTensor(*input) && holdsTensors(input->type()); })) {
    return {};
  }
  removeWholeSlices(*graph);
  const std::vector<Value*> written = writtenArguments(*graph);
  if (written.empty() || !writesNothingElse(*graph, {written.begin(), written.end()})) {
    return {};
  }
  lowerTuples(graph);  // else what goes through a tuple is another value than the argument
  const std::vector<Value*> changed = functionalizeWrites(*graph, written);
  if (changed.empty()) {
    return {};
  }
  std::set<const Value*> tensors;
  std::copy_if(graph->inputs().begin(), graph->inputs().end(), std::inserter(tensors, tensors.end()),
               [](const Value* input) { return isTensor(*input); });
  delayWrites(*graph, tensors);
  std::vector<size_t> positions;
  for (const Value* value : changed) {
    positions.push_back(value->offset());
  }
  return positions;
}

}  // namespace torchtrt::lowering
