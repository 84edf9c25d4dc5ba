// Loads the bytes of a plan and calls the engine with fast kernels and with the reference's: the outcome has to be an
// EngineError or equal answers. The sanitizers see what a kernel does outside of its operands.
#pragma once

#include <cstddef>
#include <string>

#include "plan/plan.h"

namespace torchtrt::testing {

struct PlanTrial {
  enum class Outcome {
    kRefused,  // an EngineError
    kLarge,    // its tensors want more than the given bytes: nothing was run
    kAnswer,
    kFailure,  // another error
  };
  Outcome outcome = Outcome::kRefused;
  std::string problem;  // "" when all is well
};

// Returns the bytes of all tensors at the optimum, those of one up to what is too much. Throws EngineError for dims
// that cannot be computed.
size_t tensorBytes(const plan::Plan& plan, size_t most);

PlanTrial tryPlan(const std::string& bytes, size_t most_bytes);

}  // namespace torchtrt::testing
