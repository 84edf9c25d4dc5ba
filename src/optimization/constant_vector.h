// Constants with one value per element of the last axes of a tensor: biases and scales.
#pragma once

#include <optional>

#include "torchtrt/network.h"

namespace torchtrt::optimization {

// The constant without its leading axes of size 1, if it has exactly the last `rank` dims then.
std::optional<network::Weights> asVector(const network::Tensor* constant, const Dims& dims, int rank);

}  // namespace torchtrt::optimization
