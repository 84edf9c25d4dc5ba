// Layers that fold many elements into one, and those that need such a fold of a row.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createReduce(const kernels::Problem& problem);
kernels::CreateResult createSoftmax(const kernels::Problem& problem);
kernels::CreateResult createNormalization(const kernels::Problem& problem);
kernels::CreateResult createCumulative(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
