// Machine code for the GPU that a compile has as its target, so that no compiler is needed where the plan is loaded.
#pragma once

#include "compiler/phase_clock.h"
#include "compiler/target.h"
#include "plan/plan.h"

namespace torchtrt::compiler {

// Adds to the plan the code of its kernels, where a target was named. Without a compiler of GPU code it adds none, and
// the log says so: the plan is right all the same. The plan has its weights.
void addBinaries(plan::Plan& plan, const DeviceTarget& target, PhaseClock& clock);

}  // namespace torchtrt::compiler
