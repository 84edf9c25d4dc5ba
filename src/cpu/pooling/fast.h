// The fast implementations of pooling, for the list in families.cpp.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels::pooling {

// These give no indices; they take float32 or float64, except for createBytes and createHalves.
CreateResult createChannelsLast(const Problem& problem);  // channels-last, as the next
CreateResult createAdaptiveChannelsLast(const Problem& problem);
CreateResult createBytes(const Problem& problem);          // maxima of int8 or uint8, channels-last
CreateResult createHalves(const Problem& problem);         // maxima of float16 or bfloat16, channels-last
CreateResult createPlanes(const Problem& problem);         // row-major
CreateResult createAdaptiveLines(const Problem& problem);  // any order whose last axis lies along memory

}  // namespace torchtrt::kernels::pooling
