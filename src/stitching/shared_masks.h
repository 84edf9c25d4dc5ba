// Tensors that are indexed by one mask, as detection models filter scores and boxes: PyTorch looks for the places of
// the mask, and waits for a GPU to count them, once for each tensor.
#pragma once

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::stitching {

// Replaces nodes `x[mask]`, `y[mask]`, ... of a block by one tensorrt::index_by_mask if nothing between them writes to
// memory or reads a result of them. A mask is the result of a comparison.
TORCHTRT_API void shareMasks(torch::jit::Graph& graph);

}  // namespace torchtrt::stitching
