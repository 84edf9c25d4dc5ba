// Checks that hold between lowering passes. Not a check of what can be converted: that is conversion's question.
#pragma once

#include <string>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

// libtorch's lint, and ours: schemas known, types of operands fit. Throws InternalError naming the pass that ran last.
TORCHTRT_API void verify(const torch::jit::Graph& graph, const std::string& after);

}  // namespace torchtrt::lowering
