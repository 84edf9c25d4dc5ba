// Layers that move elements and compute nothing.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createCopy(const kernels::Problem& problem);  // reformat, identity
kernels::CreateResult createExpand(const kernels::Problem& problem);
kernels::CreateResult createShuffle(const kernels::Problem& problem);
kernels::CreateResult createSlice(const kernels::Problem& problem);
kernels::CreateResult createConcatenation(const kernels::Problem& problem);
kernels::CreateResult createPadding(const kernels::Problem& problem);
kernels::CreateResult createFill(const kernels::Problem& problem);
kernels::CreateResult createGather(const kernels::Problem& problem);
kernels::CreateResult createScatter(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
