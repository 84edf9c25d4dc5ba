// Tensors that lie in a method's graph as constants, taken out of it: what an update of weights replaces.
#pragma once

#include <vector>

#include <torch/script.h>

namespace torchtrt::stitching {

// Replaces every constant tensor of the graph by an output of a ListUnpack of `list`, which is made in front of all
// nodes that follow `list`; collections of tensors become constructions. Returns the tensors, in the list's order.
// Throws CompileError(kInvalidModule) for a constant object that may hold tensors where nobody sees them.
std::vector<at::Tensor> hoistConstants(torch::jit::Graph& graph, torch::jit::Value& list);

// One copy of each memory, however many of the tensors lie in it.
std::vector<at::Tensor> copiesOf(const std::vector<at::Tensor>& tensors);

}  // namespace torchtrt::stitching
