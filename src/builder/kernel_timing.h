// The implementation of a plan's convolutions and products by the clock. The choice is a hint in the plan that engines
// of this machine take; none is needed, and none changes what is computed beyond rounding.
#pragma once

#include <cstddef>
#include <vector>

#include "builder/timing_cache.h"
#include "device/device.h"
#include "plan/plan.h"
#include "torchtrt/export.h"

namespace torchtrt::builder {

struct TimedStep {
  size_t step;
  Timing timing;
  bool is_cached;  // was among what is known
};

// Sets the hints of the steps whose problems are known, or are timed now: the longest first, for `seconds` at the most,
// of which it takes what it used. New timings are added to `known`. The plan has its weights, and its engine is
// to be loaded for as many threads as the caller has. Gives the steps that had something to choose from, in order.
TORCHTRT_API std::vector<TimedStep> chooseKernels(plan::Plan& plan, Timings& known, double& seconds,
                                                  const device::Device& device = device::cpu());

// The steps of a plan that run another implementation with batch_invariant than without, which is by_rule, or one
// sample after the other. They are timed for `seconds` at the most; 0 leaves the times at 0.
TORCHTRT_API std::vector<TimedStep> costOfInvariance(const plan::Plan& plan, double seconds,
                                                     const device::Device& device = device::cpu());

}  // namespace torchtrt::builder
