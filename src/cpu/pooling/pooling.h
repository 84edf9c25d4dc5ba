// Maximum and average over windows: pooling with a fixed window, adaptive pooling with a fixed output size.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

CreateResult createPoolingReference(const Problem& problem);
CreateResult createAdaptivePoolingReference(const Problem& problem);

}  // namespace torchtrt::kernels
