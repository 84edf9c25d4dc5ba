// Convolution and deconvolution.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

// By cuDNN, where the library is there.
kernels::CreateResult createCudnnConvolution(const kernels::Problem& problem);
kernels::CreateResult createCudnnDeconvolution(const kernels::Problem& problem);
kernels::CreateResult createDirectConvolution(const kernels::Problem& problem);
kernels::CreateResult createDirectDeconvolution(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
