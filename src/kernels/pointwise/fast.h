// The fast implementations of pointwise layers, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::pointwise {

// float32, any strides.
CreateResult createActivationHighway(const Problem& problem);
CreateResult createUnaryHighway(const Problem& problem);
CreateResult createElementwiseHighway(const Problem& problem);
CreateResult createParametricReluHighway(const Problem& problem);

// Functions over rows of any dtype, any strides: casts, comparisons and integer arithmetic, selections.
CreateResult createCastRows(const Problem& problem);
CreateResult createElementwiseRows(const Problem& problem);
CreateResult createSelectRows(const Problem& problem);

}  // namespace torchtrt::kernels::pointwise
