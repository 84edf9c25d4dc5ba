// Layers that read images at places between their elements.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createResize(const kernels::Problem& problem);
// The plugin torchtrt::AntialiasedResize (cpu/resize/plugins.h says what it computes).
kernels::CreateResult createAntialiasedResize(const kernels::Problem& problem);
kernels::CreateResult createGridSample(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
