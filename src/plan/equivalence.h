// Whether two plans compute the same, whatever their steps and tensors are called and wherever they come from.
#pragma once

#include "plan/plan.h"
#include "torchtrt/export.h"

namespace torchtrt::plan {

// The same steps on the same constants and inputs, by number, give the same outputs. Inputs that no step reads may
// differ. Plans that compute the same in different steps are not told.
TORCHTRT_API bool areEquivalent(const Plan& a, const Plan& b);

}  // namespace torchtrt::plan
