// A 1x1 convolution of an image times one factor for each image and channel, as behind squeeze and excitation: the rows
// of a band are multiplied on their way into the cache.
#pragma once

#include <memory>

#include "cpu/convolution/gemm/implicit_gemm.h"

namespace torchtrt::kernels::convolution {

// ScalesInput::prepareScaled.
Fused prepareScaledPointwise(std::shared_ptr<const PackedConvolution> packed, const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
