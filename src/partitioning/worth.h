// Decides if a group of nodes is worth an engine of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torch/script.h>

#include "partitioning/roles.h"
#include "torchtrt/export.h"

namespace torchtrt::partitioning {

// A minimum asks for as many nodes, counted as the reference does (all except constants). Without one, an engine must
// save something: by a heavy operator, or by enough light ones to fuse. A lone view saves nothing.
struct Worth {
  bool suffices = false;
  int64_t saving = 0;  // to compare groups: the smaller, the less is lost without the engine
};
TORCHTRT_API Worth worthOf(const std::vector<const torch::jit::Node*>& nodes, int64_t node_count,
                           const std::optional<uint64_t>& min_block_size);

// The nodes, and what is carried to them.
int64_t countWithCarried(const std::vector<const torch::jit::Node*>& nodes, const Roles& roles);

}  // namespace torchtrt::partitioning
