// Shapes of SHUFFLE, shared by inference and rules.
#pragma once

#include "network/layer_context.h"

namespace torchtrt::network {

Dims permuted(const Dims& dims, const std::vector<int64_t>& permutation);  // an empty permutation is the identity

// `wanted` with 0 replaced by the input's dim of that place and -1 by what is left, or why that is impossible.
struct Reshape {
  Dims dims;
  std::string problem;
};
Reshape resolveReshape(const LayerContext& context, const Dims& input, const Dims& wanted);

}  // namespace torchtrt::network
