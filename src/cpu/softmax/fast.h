// The fast implementation of softmax, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::softmax {

CreateResult createVectors(const Problem& problem);  // float32

}  // namespace torchtrt::kernels::softmax
