// The fast implementation of resize, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::resize {

CreateResult createInterpolatedLines(
    const Problem& problem);  // float32 and float64, two spatial dimensions, row-major or channels-last

}  // namespace torchtrt::kernels::resize
