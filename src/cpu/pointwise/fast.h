// The fast implementations of pointwise layers, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::pointwise {

// float32 or float64, any strides.
CreateResult createActivationVectors(const Problem& problem);
CreateResult createUnaryVectors(const Problem& problem);
CreateResult createElementwiseVectors(const Problem& problem);
CreateResult createParametricReluVectors(const Problem& problem);

// All operands float16, or all bfloat16, any strides.
CreateResult createActivationHalf(const Problem& problem);
CreateResult createUnaryHalf(const Problem& problem);
CreateResult createElementwiseHalf(const Problem& problem);
CreateResult createParametricReluHalf(const Problem& problem);

// Functions over rows of any dtype, any strides: casts, predicates and integer arithmetic, selections.
CreateResult createCastRows(const Problem& problem);
CreateResult createUnaryRows(const Problem& problem);
CreateResult createElementwiseRows(const Problem& problem);
CreateResult createSelectRows(const Problem& problem);

}  // namespace torchtrt::kernels::pointwise
