// The fast implementations of steps and their products, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::quantized {

CreateResult createQuantizeHighway(const Problem& problem);
CreateResult createDequantizeHighway(const Problem& problem);
CreateResult createConvolutionOneDnn(const Problem& problem);
CreateResult createConvolutionWinograd(const Problem& problem);
CreateResult createConvolutionHighway(const Problem& problem);
CreateResult createMatmulOneDnn(const Problem& problem);
CreateResult createMatmulHighway(const Problem& problem);

}  // namespace torchtrt::kernels::quantized
