// The fast implementation of reduce, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::reduce {

CreateResult createHighway(const Problem& problem);  // float32

}  // namespace torchtrt::kernels::reduce
