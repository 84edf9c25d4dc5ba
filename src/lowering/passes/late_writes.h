// Moves writes to buffers of the module behind all that cannot see them.
#pragma once

#include <set>

#include <torch/script.h>

namespace torchtrt::lowering {

// Moves copies into the buffers to right before the first node that may see them, so that what is computed stays
// together. Drops a copy that the next one overwrites. No constant of the graph may lie in a buffer's memory.
// A call that raises behind a moved copy leaves the buffer as it was.
void delayWrites(torch::jit::Graph& graph, const std::set<const torch::jit::Value*>& buffers);

}  // namespace torchtrt::lowering
