// The fast implementations of steps and their products, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::quantized {

CreateResult createQuantizeVectors(const Problem& problem);
CreateResult createDequantizeVectors(const Problem& problem);
CreateResult createConvolutionTiles(const Problem& problem);  // where the CPU has tiles
CreateResult createConvolutionOneDnn(const Problem& problem);
CreateResult createConvolutionWinograd(const Problem& problem);
CreateResult createConvolutionIntegerGemm(const Problem& problem);
CreateResult createMatmulOneDnn(const Problem& problem);
CreateResult createMatmulIntegerGemm(const Problem& problem);
CreateResult createIntegerWeightPanels(const Problem& problem);  // float operand times constant integer weights

}  // namespace torchtrt::kernels::quantized
