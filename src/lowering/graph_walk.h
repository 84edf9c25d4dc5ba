// Passes and later stages ask a TorchScript graph for this: its nodes in order, the nesting of blocks, and the types
// that a value holds. Nothing here knows what an operator computes.
#pragma once

#include <functional>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

// Calls visit for every node of the block and its inner blocks, in program order; visit may destroy the node it is
// given.
void forEachNode(torch::jit::Block* block, const std::function<void(torch::jit::Node*)>& visit);
// True if the node is in a block of the other, or in a block inside of such.
TORCHTRT_API bool isInside(const torch::jit::Node& node, const torch::jit::Node& outer);
// Moves the nodes of an inner block in front of its node and replaces the node's outputs by the block's.
void inlineBlock(torch::jit::Node* node, torch::jit::Block* block);
// True if values of this type hold something that can be written to (libtorch keeps its own answer to itself).
bool isMutable(const c10::Type& type);
TORCHTRT_API bool isTensor(const torch::jit::Value& value);
// True if a node asks for gradients. PyTorch must run the nodes that these go through unchanged.
bool computesGradients(torch::jit::Graph& graph);
// True if a value of this type is, or holds, a tensor.
TORCHTRT_API bool holdsTensors(const c10::TypePtr& type);

}  // namespace torchtrt::lowering
