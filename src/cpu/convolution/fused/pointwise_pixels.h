// A 1x1 convolution of which any pixels are computed when they are needed.
#pragma once

#include <memory>

#include "cpu/convolution/gemm/implicit_gemm.h"
#include "kernels/fusion.h"

namespace torchtrt::kernels::convolution {

// ComputesPixels::preparePixels (kernels/fusion.h).
std::unique_ptr<PixelSource> preparePointwisePixels(std::shared_ptr<const PackedConvolution> packed,
                                                    const ShapeSet& shapes);

}  // namespace torchtrt::kernels::convolution
