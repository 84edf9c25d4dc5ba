// Other weights for a module that was compiled with `refit`, without another compile by its user.
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/compile.h"

namespace torchtrt::compiler {

// Compiles what the module keeps of its source with these weights, to the same partition, and puts what comes of it
// into the module at once. See torchtrt/compile.h.
std::vector<std::string> updateWeights(const torch::jit::Module& compiled, const ts::Weights& weights, bool strict);

}  // namespace torchtrt::compiler
