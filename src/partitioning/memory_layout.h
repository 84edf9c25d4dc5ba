// What has to stay in PyTorch because something after it looks at how memory is laid out: engines give tensors that are
// equal, but laid out their own way.
#pragma once

#include <unordered_set>

#include <torch/csrc/jit/ir/ir.h>

#include "torchtrt/export.h"

namespace torchtrt::partitioning {

// Of the block and its inner blocks: the nodes between the operand of an operator such as as_strided and what is laid
// out alike wherever it is computed.
TORCHTRT_API std::unordered_set<const torch::jit::Node*> decidersOfLayout(const torch::jit::Block& block);

}  // namespace torchtrt::partitioning
