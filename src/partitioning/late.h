// Nodes whose results show how large they are when they have run (PartitioningOptions::late): what that means for the
// nodes around them.
#pragma once

#include <unordered_set>
#include <vector>

#include "partitioning/dependencies.h"

namespace torchtrt::partitioning {

// Returns, for each placed node, its predecessors that have data-dependent sizes, or take the lists of such apart.
// These end an engine before the node can be in one.
std::vector<std::vector<int>> lateBefore(const BlockDependencies& dependencies,
                                         const std::unordered_set<const torch::jit::Node*>& late);
// True if nodes only return the results, in a collection or taken out of one.
bool isOnlyReturned(const torch::jit::Node& node);

}  // namespace torchtrt::partitioning
