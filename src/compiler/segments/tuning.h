// Which of two ways to compute the same is the faster one here, measured.
#pragma once

#include <functional>
#include <optional>

#include "torchtrt/error.h"

namespace torchtrt::compiler {

// Why the work stays in PyTorch, if the engine is the slower one by more than measurements of one machine differ: both
// are run warm and in turns, and medians are compared. Takes about half a second, or ten runs of each where those take
// longer. Throws what they throw.
std::optional<Refusal> refuseIfSlower(const std::function<void()>& engine, const std::function<void()>& torch);

}  // namespace torchtrt::compiler
