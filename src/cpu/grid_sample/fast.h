// The fast implementation of grid_sample, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::grid_sample {

// float32 and float64 images, row-major, nearest or linear; equal to the reference in every bit.
CreateResult createGathers(const Problem& problem);

}  // namespace torchtrt::kernels::grid_sample
