// The plugins that come with torchtrt and are none of another folder.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createSearch(const kernels::Problem& problem);
kernels::CreateResult createNonZero(const kernels::Problem& problem);
kernels::CreateResult createMaskedRows(const kernels::Problem& problem);
kernels::CreateResult createUnique(const kernels::Problem& problem);
kernels::CreateResult createSuppression(const kernels::Problem& problem);
kernels::CreateResult createPoolRegions(const kernels::Problem& problem);
kernels::CreateResult createDeformedColumns(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
