// Layers that need an order of elements.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createTopK(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
