// Steps of int8 and uint8: made, read back, and multiplied. The meaning of each kind is its row in the layer table; the
// arithmetic, bit by bit, is requantization.h's.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createQuantizeReference(const Problem& problem);
CreateResult createDequantizeReference(const Problem& problem);
CreateResult createQuantizedConvolutionReference(const Problem& problem);
CreateResult createQuantizedMatrixMultiplyReference(const Problem& problem);
CreateResult createIntegerWeightMatrixMultiplyReference(const Problem& problem);

}  // namespace torchtrt::kernels
