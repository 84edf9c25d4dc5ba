// Outputs whose length shows when they have been computed. A plugin's step names in the attribute "counted" those of
// its outputs that have, of all the rows there is room for, only as many as its last output says, an int64 number. What
// is behind them nobody wrote, so no step may read such a tensor: it can only be an output of the plan, which is cut.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace torchtrt::plan {

// Returns, for every tensor of the plan, the tensor that counts its rows, or -1. Throws EngineError (kPlanCorrupt) if a
// step names outputs that it does not have, that have no rows, or are not row-major, or if the number is none.
TORCHTRT_API std::vector<int32_t> countsOfTensors(const Plan& plan);

}  // namespace torchtrt::plan
