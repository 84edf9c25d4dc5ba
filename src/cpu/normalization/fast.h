// The fast implementation of normalization, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::normalization {

CreateResult createVectors(const Problem& problem);  // float32

}  // namespace torchtrt::kernels::normalization
