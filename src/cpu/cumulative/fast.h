// The fast implementation of cumulative, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::cumulative {

CreateResult createLines(const Problem& problem);  // sums and products of float32, float64 and int64

}  // namespace torchtrt::kernels::cumulative
