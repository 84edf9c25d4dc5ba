// Finds the attributes that a graph writes to in place. libtorch's alias analysis takes whatever was once in a list, or
// was split, for one memory. A write to a fresh mask then counts as one to every weight that was chunked. Here every
// written value is followed back to its origin. This is no general analysis of aliases.
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

// True if the operator that gives the value makes it anew, so that nothing else lies in its memory at first.
bool makesMemory(const torch::jit::Value& value);

// True if it may return an operand, or a view of one, though its schema does not say so.
bool mayReturnOperand(const torch::jit::Node& node);

}  // namespace torchtrt::lowering
