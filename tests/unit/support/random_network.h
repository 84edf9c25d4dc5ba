// Small valid networks made from a seed: every kind of layer that runs without a plugin, static and symbolic shapes.
// For fuzz tests of what takes a network; the values stay tame (no division by data, no exponential growth), so results
// can be compared.
#pragma once

#include <cstdint>
#include <memory>

#include "torchtrt/network.h"

namespace torchtrt::test {

struct RandomNetworkOptions {
  int layers = 12;         // about; constants come on top
  bool symbolic = true;    // the batch is the symbol "n" in [1, 2, 4] in half of the networks
  bool odd_sizes = false;  // see networkOfOddSizes()
};

// The same network for the same seed and options. It is named after its seed.
std::unique_ptr<network::Network> randomNetwork(uint64_t seed, const RandomNetworkOptions& options = {});

// The sizes of its inputs are 0, 1, or beside the widths of vectors and blocks. Null where a layer cannot take these.
std::unique_ptr<network::Network> networkOfOddSizes(uint64_t seed, int layers);

}  // namespace torchtrt::test
