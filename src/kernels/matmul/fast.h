// The fast implementations of matrix multiplication, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::matmul {

CreateResult createHighway(const Problem& problem);  // constant b without batches, packed
CreateResult createOneDnn(const Problem& problem);
CreateResult createOneDnnHalf(const Problem& problem);  // float16 and bfloat16, where the CPU multiplies them

}  // namespace torchtrt::kernels::matmul
