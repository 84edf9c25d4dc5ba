// One engine held against the same operators in PyTorch, which it keeps (runtime::KeptSegment).
#pragma once

#include <string>
#include <vector>

#include <torch/script.h>

#include "runtime/engine_class.h"
#include "torchtrt/verify.h"

namespace torchtrt::compiler {

// Returns how far the engine's outputs are from PyTorch's. Throws EngineError.
Verification::Deviation deviationOf(const runtime::Engine& engine, std::vector<at::Tensor> inputs);

// Returns the operators of the kept segment, in order. Numbers and collections that are made on the way are none.
std::vector<const torch::jit::Node*> operatorsOf(const torch::jit::Graph& graph);

// The first operator up to which an engine that is made anew disagrees with PyTorch, described; empty where one of all
// of them agrees. Throws what making an engine does.
std::string firstDisagreeing(const runtime::KeptSegment& kept, const std::vector<at::Tensor>& inputs);

}  // namespace torchtrt::compiler
