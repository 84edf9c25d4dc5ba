// Finds in-place operators of tensors, and the functional ones that compute the same.
#pragma once

#include <torch/script.h>

namespace torchtrt::lowering {

// True for an operator of ATen that writes to its first operand, a tensor, and gives it back.
bool isInPlace(const torch::jit::Node& node);

// True if an operator computes what the in-place one writes.
bool hasFunctionalForm(const torch::jit::Node& node);
// The node that computes what the in-place one writes, of the same operands. It is not in the graph yet; constants that
// it needs are put in front of the in-place node. Null where there is none.
torch::jit::Node* functionalForm(torch::jit::Graph& graph, torch::jit::Node& node);

// Gives the result of a functional node in the graph the dtype of `written`. An in-place operator keeps that dtype
// whatever the other operands are. Adds the cast if one is needed.
torch::jit::Value* keepType(torch::jit::Graph& graph, torch::jit::Node& functional, torch::jit::Value* written);

}  // namespace torchtrt::lowering
