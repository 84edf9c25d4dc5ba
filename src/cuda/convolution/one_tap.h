// Convolutions of one tap as products.
#pragma once

#include <memory>

#include "cuda/launch/kernel.h"

namespace torchtrt::cuda {

// The product that a convolution of one place by one tap is, in a kernel for few images. Null where it is none, or of
// many.
std::unique_ptr<kernels::Prepared> prepareOnePlace(const Layer& layer, const kernels::ShapeSet& shapes);

}  // namespace torchtrt::cuda
