// Matrix multiplication with batches, optional bias, residual and activation.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createMatrixMultiplyReference(const Problem& problem);

}  // namespace torchtrt::kernels
