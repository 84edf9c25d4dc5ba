// Recurrent layers.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createRecurrent(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
