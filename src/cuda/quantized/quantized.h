// Steps of int8 or uint8: to and from real numbers, and their products.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createQuantize(const kernels::Problem& problem);
kernels::CreateResult createDequantize(const kernels::Problem& problem);
kernels::CreateResult createQuantizedMatmul(const kernels::Problem& problem);
kernels::CreateResult createQuantizedConvolution(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
