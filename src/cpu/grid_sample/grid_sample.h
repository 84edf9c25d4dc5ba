// An image sampled at places that a grid gives.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createGridSampleReference(const Problem& problem);

}  // namespace torchtrt::kernels
