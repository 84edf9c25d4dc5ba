// Interpolation of the spatial dimensions to another size.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createResizeReference(const Problem& problem);

}  // namespace torchtrt::kernels
