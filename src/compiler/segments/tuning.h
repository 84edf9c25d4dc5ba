// Measures which of two ways to compute the same is the faster one here.
#pragma once

#include <functional>
#include <optional>

#include "compiler/segments/segment_engines.h"
#include "compiler/task.h"
#include "partitioning/roles.h"
#include "torchtrt/error.h"

namespace torchtrt::compiler {

// Why the work stays in PyTorch, if the engine is the slower one by more than measurements of one machine differ: both
// are run warm and in turns, and medians are compared. Takes about half a second, or ten runs of each where those take
// longer. Throws what they throw.
std::optional<Refusal> refuseIfSlower(const std::function<void()>& engine, const std::function<void()>& torch);

// Returns the nodes that are slower in an engine than in PyTorch, on the engines' inputs while the samples run through
// the module.
Failures slowerEngines(SegmentEngines& engines, const Task& task, const partitioning::Roles& roles,
                       const torch::jit::Module& module, const std::vector<torch::jit::IValue>& samples);

}  // namespace torchtrt::compiler
