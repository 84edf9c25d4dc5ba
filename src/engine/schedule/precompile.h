// Machine code for a GPU that is elsewhere, for a plan to carry along.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "torchtrt/export.h"

namespace torchtrt::engine {

// Compiles the kernels that calls at the optimum, the least and the greatest sizes run on a GPU of the architecture,
// with inputs that lie in rows. The plan has its weights. Throws EngineError where a compiler, or this project's
// kernels for GPUs, are missing.
TORCHTRT_API std::vector<plan::Binary> precompiled(plan::Plan plan, const std::string& architecture);

}  // namespace torchtrt::engine
