// Which attributes a graph writes to in place. libtorch's alias analysis takes whatever has once been in a list, or has
// been split, for one memory, so that a write to a fresh mask counts as one to every weight that was chunked; here
// every written value is followed back to where it was made. No analysis of what may alias what in general.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include <torch/script.h>

namespace torchtrt::lowering {

// The outputs of prim::GetAttr nodes whose value, or what lies in the same memory, the graph or one of the further
// values' readers writes to; nothing where that cannot be followed. Attributes are set by name alone, whoever owns
// them.
std::optional<std::set<const torch::jit::Value*>> writtenReads(torch::jit::Graph& graph,
                                                               const std::vector<torch::jit::Value*>& further = {});

// Whether the operator that gives the value makes it anew, so that nothing else lies in its memory at first.
bool makesMemory(const torch::jit::Value& value);

// Whether it may return an operand, or a view of one, though its schema does not say so.
bool mayReturnOperand(const torch::jit::Node& node);

}  // namespace torchtrt::lowering
