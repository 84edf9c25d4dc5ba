// The fast implementation of topk, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::topk {

CreateResult createFloats(const Problem& problem);    // float32 and float64, whatever the type of the positions
CreateResult createIntegers(const Problem& problem);  // int64 to int8 and uint8

}  // namespace torchtrt::kernels::topk
