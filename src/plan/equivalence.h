// Compares two plans by what they compute, whatever the names and origins of their steps and tensors are.
#pragma once

#include "plan/plan.h"
#include "torchtrt/export.h"

namespace torchtrt::plan {

// The same steps on the same constants and inputs, by number, give the same outputs. Inputs that no step reads may
// differ. Plans that compute the same in different steps are not told.
TORCHTRT_API bool areEquivalent(const Plan& a, const Plan& b);

}  // namespace torchtrt::plan
