// The fast implementations of pointwise layers, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::pointwise {

// float32, any strides.
CreateResult createActivationHighway(const Problem& problem);
CreateResult createUnaryHighway(const Problem& problem);
CreateResult createElementwiseHighway(const Problem& problem);

}  // namespace torchtrt::kernels::pointwise
