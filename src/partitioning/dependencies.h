// Tells which nodes have to run before which, in one block: values used, memory written to, and effects, which keep
// their order.
#pragma once

#include <vector>

#include "partitioning/roles.h"

namespace torchtrt::partitioning {

// Lists, for each placed node of the block, in order, the numbers of those that have to run before it.
struct BlockDependencies {
  std::vector<const torch::jit::Node*> nodes;
  std::vector<std::vector<int>> predecessors;
};
BlockDependencies dependenciesOf(const torch::jit::Block& block, const Roles& roles);

// True if no engine may take the node over, since an engine's results are fresh memory: the node writes to memory, or
// gives a view of memory that somebody writes to.
bool sharesWrittenMemory(const torch::jit::Node& node, const Roles& roles);
// True if the node, or one inside of its blocks, writes to memory.
bool writes(const torch::jit::Node& node);

}  // namespace torchtrt::partitioning
