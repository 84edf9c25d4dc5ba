// Layers whose every output element depends on one element of each operand: activation, unary, elementwise, select,
// cast, parametric_relu; and fill, which has no operand. Copies without arithmetic are in movement.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createActivationReference(const Problem& problem);
CreateResult createUnaryReference(const Problem& problem);
CreateResult createElementwiseReference(const Problem& problem);
CreateResult createParametricReluReference(const Problem& problem);
CreateResult createSelectReference(const Problem& problem);
CreateResult createCastReference(const Problem& problem);
CreateResult createFillReference(const Problem& problem);

}  // namespace torchtrt::kernels
