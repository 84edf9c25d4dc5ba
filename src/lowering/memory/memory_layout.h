// Finds nodes that look at how memory is laid out, and nodes that decide it. Engines give equal tensors in a layout of
// their own. A functional operator lays out its result anew, and an in-place one leaves its operand as it is.
#pragma once

#include <functional>
#include <unordered_set>

#include <torch/csrc/jit/ir/ir.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

// True if the node reads its operand's memory by strides, or tells what they are: as_strided, is_contiguous, stride,
// ...
bool looksAtLayout(const torch::jit::Node& node);

// True if the node gives a view of its operand, or a copy if no view is possible: reshape, contiguous, ... A writer to
// one or the other can tell.
bool viewsOrCopies(const torch::jit::Node& node);

// Tells which of those a later write shows. It follows the written memory back to its origin through views, branches
// and lists, not through loops.
std::function<bool(const torch::jit::Node&)> writesThatShow(torch::jit::Graph& graph);

// Returns the nodes of the block, and of its inner blocks, between a look at an operand's layout and a node with one
// layout everywhere. `can_tell` says of those that view or copy if a write shows which it was.
TORCHTRT_API std::unordered_set<const torch::jit::Node*> decidersOfLayout(
    torch::jit::Block* block, const std::function<bool(const torch::jit::Node&)>& can_tell);

}  // namespace torchtrt::lowering
