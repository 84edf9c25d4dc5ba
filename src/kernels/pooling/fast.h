// The fast implementations of pooling, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::pooling {

// float32, without indices.
CreateResult createHighway(const Problem& problem);  // channels-last, as the next
CreateResult createAdaptiveHighway(const Problem& problem);
CreateResult createPlanes(const Problem& problem);  // row-major

}  // namespace torchtrt::kernels::pooling
