#include "lowering/subgraph_pattern.h"

#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/ir/subgraph_matcher.h>

#include <unordered_map>
#include <unordered_set>

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Match;
using torch::jit::Node;
using torch::jit::Value;

struct ParsedPattern {
  Graph before, after;
  std::unordered_map<std::string, Value*> names;
};

std::vector<Node*> matchedNodes(const Match& match) {
  std::vector<Node*> nodes;
  for (const auto& [pattern_node, node] : match.nodes_map) {
    if (node->kind() != torch::jit::prim::Param && node->kind() != torch::jit::prim::Return) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

// The replacement computes everything at the last node, so nothing in between may write to what the match reads.
bool writesBetween(const std::vector<Node*>& matched, Node* last) {
  Node* first = last;
  for (Node* node : matched) {
    first = node->isBefore(first) ? node : first;
  }
  for (Node* node = first; node != last; node = node->next()) {
    const auto* schema = node->maybeSchema();
    if (!node->blocks().empty() || (schema && schema->is_mutable())) {
      return true;
    }
  }
  return false;
}

// The replacements of earlier matches of one search. All matches are found before the first is replaced, so a later one
// may name a value that is gone.
struct Replaced {
  std::unordered_set<Node*> nodes;
  std::unordered_map<Value*, Value*> values;

  Value* current(Value* value) const {
    const auto found = values.find(value);
    return found == values.end() ? value : found->second;
  }
};

bool replaceMatch(Graph& graph, const ParsedPattern& parsed, const SubgraphPattern& pattern, const Match& match,
                  Replaced* replaced) {
  const std::vector<Node*> matched = matchedNodes(match);
  for (Node* node : matched) {
    if (replaced->nodes.count(node)) {
      return false;
    }
  }
  Captures captures;
  for (const auto& [name, value] : parsed.names) {
    const auto found = match.values_map.find(value);
    if (found != match.values_map.end()) {
      captures[name] = replaced->current(found->second);
    }
  }
  if (writesBetween(matched, match.anchor) || (pattern.guard && !pattern.guard(captures))) {
    return false;
  }
  std::vector<Value*> inputs;
  for (const Value* input : parsed.before.inputs()) {
    inputs.push_back(replaced->current(match.values_map.at(input)));
  }
  Node* before_anchor = match.anchor->prev();
  std::vector<Value*> outputs;
  {
    torch::jit::WithInsertPoint guard(match.anchor);
    outputs = torch::jit::insertGraph(graph, const_cast<Graph&>(parsed.after), inputs);
  }
  for (Node* node = before_anchor->next(); node != match.anchor; node = node->next()) {
    node->copyMetadata(match.anchor);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value* before = match.values_map.at(parsed.before.outputs()[i]);
    before->replaceAllUsesWith(outputs[i]);
    replaced->values[before] = outputs[i];
  }
  replaced->nodes.insert(matched.begin(), matched.end());
  return true;
}

bool rewriteSubgraph(Graph& graph, const SubgraphPattern& pattern) {
  ParsedPattern parsed;
  torch::jit::parseIR(pattern.before, &parsed.before, parsed.names);
  torch::jit::parseIR(pattern.after, &parsed.after);
  Replaced replaced;
  for (const Match& match : torch::jit::findPatternMatches(parsed.before, graph)) {
    replaceMatch(graph, parsed, pattern, match, &replaced);
  }
  for (Node* node : replaced.nodes) {
    node->removeAllInputs();
  }
  for (Node* node : replaced.nodes) {
    node->destroy();
  }
  return !replaced.nodes.empty();
}

}  // namespace

bool rewriteSubgraphs(const std::shared_ptr<Graph>& graph, const std::vector<SubgraphPattern>& patterns) {
  bool changed = false;
  for (const SubgraphPattern& pattern : patterns) {
    changed |= rewriteSubgraph(*graph, pattern);
  }
  return changed;
}

}  // namespace torchtrt::lowering
