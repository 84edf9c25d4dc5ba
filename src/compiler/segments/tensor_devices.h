// Follows the devices of a graph's tensors when it runs on a GPU, as its operators say. Operators that move tensors
// from or to the GPU stay in PyTorch.
#pragma once

#include <unordered_map>

#include <torch/script.h>

#include "lowering/lowering.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

// Nodes that work on tensors of other devices than `device`, with the reason. Tensors that operators make on the CPU
// from nothing, and that the CPU would hold, count as the device's while nobody sees the difference.
std::unordered_map<const torch::jit::Node*, Refusal> elsewhere(const torch::jit::Graph& graph,
                                                               const at::Device& device);

// Questions after the device of tensors that are there become constants.
void answerDeviceQuestions(torch::jit::Graph& graph, const at::Device& device);

}  // namespace torchtrt::compiler
