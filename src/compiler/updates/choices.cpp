#include "compiler/updates/choices.h"

#include <algorithm>

#include "base/hash.h"
#include "lowering/graph_walk.h"

namespace torchtrt::compiler {

namespace {

// Without constants, which go where they are read.
std::vector<const torch::jit::Node*> nodesOf(torch::jit::Graph& graph) {
  std::vector<const torch::jit::Node*> nodes;
  lowering::forEachNode(graph.block(), [&](const torch::jit::Node* node) {
    if (node->kind() != torch::jit::prim::Constant) {
      nodes.push_back(node);
    }
  });
  return nodes;
}

std::string kindsOf(const std::vector<const torch::jit::Node*>& nodes) {
  std::string kinds;
  for (const torch::jit::Node* node : nodes) {
    kinds += std::string(node->kind().toQualString()) + " ";
  }
  return hashText(kinds);
}

}  // namespace

Choices choicesOf(torch::jit::Graph& lowered, const partitioning::PartitioningOptions& options) {
  const std::vector<const torch::jit::Node*> nodes = nodesOf(lowered);
  Choices choices;
  choices.kinds = kindsOf(nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (const auto found = options.refused.find(nodes[i]); found != options.refused.end()) {
      choices.refused.emplace_back(i, found->second);
    }
    if (options.late.count(nodes[i]) != 0) {
      choices.late.push_back(static_cast<int64_t>(i));
    }
  }
  return choices;
}

void follow(const Choices& choices, torch::jit::Graph& lowered, partitioning::PartitioningOptions& options) {
  const std::vector<const torch::jit::Node*> nodes = nodesOf(lowered);
  const auto is_known = [&](int64_t number) { return number >= 0 && static_cast<size_t>(number) < nodes.size(); };
  const bool fits = kindsOf(nodes) == choices.kinds &&
                    std::all_of(choices.late.begin(), choices.late.end(), is_known) &&
                    std::all_of(choices.refused.begin(), choices.refused.end(),
                                [&](const auto& each) { return is_known(each.first); });
  if (!fits) {
    throw CompileError(ErrorCode::kInvalidModule,
                       "with these weights the method is lowered to another graph: its code asks for their values", {},
                       "compile the module again with the new weights");
  }
  for (const auto& [number, refusal] : choices.refused) {
    options.refused.emplace(nodes[static_cast<size_t>(number)], refusal);
  }
  for (const int64_t number : choices.late) {
    options.late.insert(nodes[static_cast<size_t>(number)]);
  }
}

}  // namespace torchtrt::compiler
