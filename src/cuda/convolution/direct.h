// The kernel "direct" for any convolution, for kernels that take few.
#pragma once

#include <memory>

#include "cuda/launch/steps.h"

namespace torchtrt::cuda {

std::unique_ptr<kernels::Prepared> prepareDirectConvolution(const Layer& layer, const kernels::ShapeSet& shapes,
                                                            const Strided& weights, bool transposed);

}  // namespace torchtrt::cuda
