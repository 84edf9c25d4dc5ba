// Rewrites written as pairs of IR text. For patterns whose replacement is the same for every match; anything that
// computes its replacement is a pass by hand.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/script.h>

namespace torchtrt::lowering {

// The values of a match by their names in the pattern text, without the percent sign.
using Captures = std::unordered_map<std::string, const torch::jit::Value*>;

struct SubgraphPattern {
  const char* before;
  const char* after;
  std::function<bool(const Captures&)> guard = nullptr;  // absent: always
};

// Replaces every match of every pattern, in the order given. New nodes take the source range of the match's last node.
bool rewriteSubgraphs(const std::shared_ptr<torch::jit::Graph>& graph, const std::vector<SubgraphPattern>& patterns);

}  // namespace torchtrt::lowering
