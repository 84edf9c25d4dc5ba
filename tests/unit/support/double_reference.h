// Tells if a float32 result over tolerance is nothing but rounding. Where large values cancel, any two orders of
// computing differ by more than a tolerance relative to the rest.
#pragma once

#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::testing {

// True if `got` is about as far from output `index` of the network, computed in float64, as `expected` (the network's
// own float32 result) or as float32 rounding of every layer's results takes it. A gelu rounds as its operand does.
// False for a network that does not run in float64.
bool isRounding(const network::Network& network, const std::vector<network::Weights>& inputs, size_t index,
                const network::Weights& got, const network::Weights& expected);

}  // namespace torchtrt::testing
