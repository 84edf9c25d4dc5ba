// Convolution and deconvolution.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createDirectConvolution(const kernels::Problem& problem);
kernels::CreateResult createDirectDeconvolution(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
