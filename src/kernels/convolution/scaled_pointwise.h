// A 1x1 convolution of an image times one factor for each image and channel, as behind squeeze and excitation: the rows
// of a band are multiplied on their way into the cache.
#pragma once

#include <memory>

#include "kernels/convolution/implicit_gemm.h"

namespace torchtrt::kernels::convolution {

// Null where it has no form for the shapes, or is no faster than the product on its own.
std::unique_ptr<Prepared> prepareScaledPointwise(std::shared_ptr<const PackedConvolution> packed,
                                                 const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
