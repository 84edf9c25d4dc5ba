// A plan with other attributes, memory orders, dims, operands or arithmetic, some of which go on fitting each other.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace torchtrt::testing {

plan::Plan changedPlan(plan::Plan plan, uint64_t seed);

}  // namespace torchtrt::testing
