// Runs a network layer by layer with the reference kernels: the oracle for whatever changes or compiles networks.
// Slow and simple; it knows neither plans nor memory.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::testing {

// May change a result of a layer before others read it.
using Adjust = std::function<void(const network::Layer& layer, const std::vector<const network::Weights*>& operands,
                                  network::Weights& result)>;

// Symbols take their values from the inputs' shapes. Returns the network's outputs.
std::vector<network::Weights> interpret(const network::Network& network, const std::vector<network::Weights>& inputs,
                                        const Adjust& adjust = {});

// Nothing where the network's dims fit together for other values of its symbols only, like n broadcast to 0.
std::optional<std::vector<network::Weights>> interpretIfPossible(const network::Network& network,
                                                                 const std::vector<network::Weights>& inputs);

// Small values for every input of the network, the same for the same seed; every symbol has its opt value or the one
// given.
std::vector<network::Weights> randomInputs(const network::Network& network, uint32_t seed,
                                           const std::map<std::string, int64_t>& symbols = {});

// Same dtype and dims; integers, booleans and the places of NaN and infinity equal; floating values within
// tolerance * max|expected|.
::testing::AssertionResult agree(const network::Weights& got, const network::Weights& expected,
                                 double tolerance = 1e-4);

}  // namespace torchtrt::testing
