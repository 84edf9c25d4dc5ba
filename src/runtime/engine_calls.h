// The nodes of a method that calls engines: the calls, and what hands their operands and results on. Private to this
// folder.
#pragma once

#include <torch/script.h>

namespace torchtrt::runtime {

bool isEngineCall(const torch::jit::Node& node);
// True for a call that also writes to its inputs.
bool isUpdatingCall(const torch::jit::Node& node);
// True for a node that only takes values apart or puts them together.
bool onlyGathers(const torch::jit::Node& node);

}  // namespace torchtrt::runtime
