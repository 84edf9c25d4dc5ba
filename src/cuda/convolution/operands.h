// Operands of a convolution as the rows of a matrix, with a copy where they lie otherwise.
#pragma once

#include "cuda/launch/steps.h"
#include "cuda/matmul/tile.h"

namespace torchtrt::cuda {

// An image with its channels last and dense. Adds a copy unless it `lies_so`, and changes the strides to those of the
// copy.
Place withChannelsLast(Launches& launches, kernels::TensorDesc& desc, const Place& place, bool lies_so);
// The residual of the layer so, operand `index`; absent if it has none.
Place residualByRows(Launches& launches, const Layer& layer, const kernels::ShapeSet& shapes, size_t index);
// The values of an operand of one dim next to each other; absent if it has none.
Place denseValues(Launches& launches, const Layer& layer, const kernels::ShapeSet& shapes, size_t index);
// Adds the step between the values of an operand of one dim, and a pointer to them; 0 and null if the layer has none.
Arguments& addValues(Arguments& arguments, const Layer& layer, const kernels::ShapeSet& shapes, size_t index);
// True if channels lie next to each other, and every step is a multiple of `chunk` elements.
bool hasChannelsInChunks(const kernels::TensorDesc& desc, int64_t chunk);

// True if each result of an image is of one place alone, the same place.
bool isPointwise(const Attributes& attributes, const Ints& filter);
// Returns the windows of `filter` over an image whose channels lie next to each other.
Windows windowsOf(const Attributes& attributes, const kernels::TensorDesc& in, const Ints& filter, const Ints& out);

}  // namespace torchtrt::cuda
