// What looks at how memory is laid out, and what decides that. Engines give tensors that are equal, but laid out their
// own way, and a functional operator lays out its result where an in-place one leaves its operand as it is.
#pragma once

#include <functional>
#include <unordered_set>

#include <torch/csrc/jit/ir/ir.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

// Whether it reads its operand's memory by strides, or tells what they are: as_strided, is_contiguous, stride, ...
bool looksAtLayout(const torch::jit::Node& node);

// Whether it gives a view of its operand, or a copy where no view can be had: reshape, contiguous, ... Who writes to
// one or the other can tell.
bool viewsOrCopies(const torch::jit::Node& node);

// Which of those a later write shows, as far as the written memory can be followed from where it was made: through
// views, branches and lists, not through loops.
std::function<bool(const torch::jit::Node&)> writesThatShow(torch::jit::Graph& graph);

// Of the block and its inner blocks: the nodes between what looks at the layout of its operand and what is laid out
// alike wherever it is computed. `can_tell` says of those that view or copy whether a write shows which it was.
TORCHTRT_API std::unordered_set<const torch::jit::Node*> decidersOfLayout(
    torch::jit::Block* block, const std::function<bool(const torch::jit::Node&)>& can_tell);

}  // namespace torchtrt::lowering
