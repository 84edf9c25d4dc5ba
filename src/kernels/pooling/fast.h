// The fast implementations of pooling, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::pooling {

// float32, channels-last, without indices.
CreateResult createHighway(const Problem& problem);
CreateResult createAdaptiveHighway(const Problem& problem);

}  // namespace torchtrt::kernels::pooling
