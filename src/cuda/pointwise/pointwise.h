// Layers that compute each element of their result from the elements at the same place. Neighbours become one kernel
// (composed.h).
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createActivation(const kernels::Problem& problem);
kernels::CreateResult createUnary(const kernels::Problem& problem);
kernels::CreateResult createElementwise(const kernels::Problem& problem);
kernels::CreateResult createParametricRelu(const kernels::Problem& problem);
kernels::CreateResult createSelect(const kernels::Problem& problem);
kernels::CreateResult createCast(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
