// runtime/comparison.h for the compiler, which also compares whole modules.
#pragma once

#include <torch/script.h>

#include "runtime/comparison.h"
#include "torchtrt/export.h"

namespace torchtrt::compiler {

using runtime::coarsestOf;
using runtime::deviation;
using runtime::firstDifference;
using runtime::grossDifference;
using runtime::hasAnyElements;
using runtime::isRounded;

// Of a compiled module: as its record and its engines have it. Of a graph beside engines: as both have it, where
// nothing is quantized.
at::ScalarType coarsestOf(const torch::jit::Graph& graph, const torch::jit::Module& compiled);
TORCHTRT_API at::ScalarType coarsestOf(const torch::jit::Module& compiled);

}  // namespace torchtrt::compiler
