// Runs operators in float64. That judges an engine and PyTorch if both are right and round differently.
#pragma once

#include <optional>

#include <torch/script.h>

namespace torchtrt::compiler {

// The graph's outputs for these inputs, which are left alone, with every floating tensor in float64 from the beginning:
// inputs, constants and what operators cast to a floating dtype. Nothing where some operator does not run so.
std::optional<torch::jit::Stack> interpretInDouble(const torch::jit::Graph& graph, const torch::jit::Stack& inputs);

}  // namespace torchtrt::compiler
