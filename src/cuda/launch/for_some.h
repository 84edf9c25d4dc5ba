// Kernels that are the fastest for some sizes, or take some strides. Others go to a second kernel.
#pragma once

#include <vector>

#include "cuda/launch/kernel.h"

namespace torchtrt::cuda {

using Create = kernels::CreateResult (*)(const kernels::Problem& problem);

// Returns a kernel that prepares by `prepare`, and where that gives null, by the kernel of the first of `others` that
// takes the problem. Without others `prepare` must not give null. `packed`: the bytes of weights that it keeps instead
// of input 1.
kernels::CreateResult launchedForSome(const kernels::Problem& problem, Prepare prepare,
                                      const std::vector<Create>& others, size_t packed = 0);

// True if no size of an operand is dynamic.
bool areSizesKnown(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
