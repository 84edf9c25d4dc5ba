// Computes one layer with the reference kernels, from and to row-major data. For constant folding and for tests;
// engines run plans.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "torchtrt/export.h"
#include "torchtrt/network.h"

namespace torchtrt::optimization {

// inputs: one per operand, null where the operand is absent; their dims are the operands' for these values of the
// symbols. Throws EngineError for faults in the data (an index out of range, integer division by zero).
TORCHTRT_API std::vector<network::Weights> evaluateLayer(
    const network::Layer& layer, const std::vector<const network::Weights*>& inputs,
    const std::function<int64_t(const std::string&)>& value_of_symbol);

}  // namespace torchtrt::optimization
