// A network with some of its products in integers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "quantization/range.h"

namespace torchtrt::quantization {

using StepsOfTensors = std::map<int64_t, Steps>;  // by a tensor's id

// A copy of the network in which the layers of these ids, candidates all of them, multiply integers. `steps` has every
// tensor that they multiply. Each tensor is quantized once; a residual is read in steps where its float32 form would be
// computed for nothing else. QUANTIZE layers stand by themselves: the optimizer fuses them into what makes their
// operands.
std::unique_ptr<network::Network> withIntegerProducts(const network::Network& network, const std::set<int64_t>& layers,
                                                      const StepsOfTensors& steps);

}  // namespace torchtrt::quantization
