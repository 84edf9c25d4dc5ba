// Convolution and deconvolution (transposed convolution) over 1 to 3 spatial dimensions.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createConvolutionReference(const Problem& problem);
CreateResult createDeconvolutionReference(const Problem& problem);

}  // namespace torchtrt::kernels
