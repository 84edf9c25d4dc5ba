// The fast implementations of matrix multiplication, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::matmul {

CreateResult createPackedGemm(const Problem& problem);  // constant b without batches, packed; float32 or float64
CreateResult createRunTime(const Problem& problem);  // with a b that comes with the call; float64, or float32 and small
CreateResult createOneDnn(const Problem& problem);
CreateResult createOneDnnBFloat16(const Problem& problem);  // where the CPU multiplies bfloat16
CreateResult createOneDnnBlocks(const Problem& problem);    // the same by blocks of rows, with Problem::batch_invariant

}  // namespace torchtrt::kernels::matmul
