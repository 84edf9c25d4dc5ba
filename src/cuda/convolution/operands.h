// Operands of a convolution as the rows of a matrix, with a copy where they lie otherwise.
#pragma once

#include "cuda/launch/steps.h"

namespace torchtrt::cuda {

// An image with its channels last and dense. Adds a copy unless it `lies_so`, and changes the strides to those of the
// copy.
Place withChannelsLast(Launches& launches, kernels::TensorDesc& desc, const Place& place, bool lies_so);
// The residual of the layer so; absent if it has none.
Place residualByRows(Launches& launches, const Layer& layer, const kernels::ShapeSet& shapes);
// The values of its bias next to each other; absent if it has none.
Place denseBias(Launches& launches, const Layer& layer, const kernels::ShapeSet& shapes);

}  // namespace torchtrt::cuda
