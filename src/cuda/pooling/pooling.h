// Windowed and adaptive pooling.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createPooling(const kernels::Problem& problem);
kernels::CreateResult createAdaptivePooling(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
