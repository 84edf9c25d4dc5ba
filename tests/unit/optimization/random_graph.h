// Random networks rich in what the optimizer looks for: constants, batch normalizations, activations in pieces, layers
// that do nothing, equal layers, dead ones. Sizes are tiny; the same seed gives the same network.
#pragma once

#include <cstdint>
#include <memory>

#include "torchtrt/network.h"

namespace torchtrt::optimization::testing {

std::unique_ptr<network::Network> randomGraph(uint32_t seed);

}  // namespace torchtrt::optimization::testing
