// The result of a method belongs to the caller, who may write to it. A constant of the graph is the module's.
#pragma once

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::stitching {

// Copies of constants, of views of them and of constant lists take their places among the graph's results, also in
// collections and branches.
TORCHTRT_API void copyConstantResults(torch::jit::Graph& graph);

}  // namespace torchtrt::stitching
