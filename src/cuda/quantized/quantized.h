// Steps of int8 or uint8: to and from real numbers, and their products.
#pragma once

#include <optional>

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createQuantize(const kernels::Problem& problem);
kernels::CreateResult createDequantize(const kernels::Problem& problem);
kernels::CreateResult createTensorCoreMatmul(const kernels::Problem& problem);
kernels::CreateResult createTensorCoreConvolution(const kernels::Problem& problem);
// Refuses on GPUs without asynchronous copies, which the two above need.
std::optional<Refusal> leaveToOldDevices(const kernels::Problem& problem);
kernels::CreateResult createQuantizedMatmul(const kernels::Problem& problem);
kernels::CreateResult createQuantizedConvolution(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
