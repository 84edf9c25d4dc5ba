// The decisions of a compile that depend on what was tried and timed, for another compile of the same module to follow.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <torch/script.h>

#include "partitioning/partitioning.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

// Nodes are numbered in the order of the lowered graph, those of inner blocks included and constants left out.
struct Choices {
  std::vector<std::pair<int64_t, Refusal>> refused;  // to PyTorch: by the user, by a failure, or for being slower
  std::vector<int64_t> late;                         // an engine ends behind these
  std::string kinds;                                 // a hash of the kinds of all nodes
};

Choices choicesOf(torch::jit::Graph& lowered, const partitioning::PartitioningOptions& options);
// Throws CompileError(kInvalidModule) where the graph has other nodes than those that the choices were made for.
void follow(const Choices& choices, torch::jit::Graph& lowered, partitioning::PartitioningOptions& options);

}  // namespace torchtrt::compiler
