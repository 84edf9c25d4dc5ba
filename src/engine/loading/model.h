// A model is a loaded plan: the plan itself, a kernel for every step, the weights that some kernel still reads. It is
// immutable once an engine has it. All that depends on shapes is in schedule.h. Private to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "engine/fusion/candidates.h"
#include "engine/loading/problem.h"
#include "kernels/kernel.h"
#include "kernels/restores.h"
#include "plan/plan.h"
#include "torchtrt/engine.h"

namespace torchtrt::engine {

struct LoadedStep {
  std::unique_ptr<kernels::Kernel> kernel;
  const char* implementation = "";
};

// Says who keeps the memory of the weights that are given: nobody, one owner of them all, or each its own.
enum class Ownership : uint8_t { kNone, kTogether, kApart };

// A weight that its giver need not hold any more can be had from here.
struct WeightSource {
  const kernels::RestoresConstants* kernel = nullptr;
  int input = 0;         // of the kernel's step
  bool is_copy = false;  // without a kernel: the model's own copy of the weight, which calls read
};

struct Model {
  plan::Plan plan;  // weights without their data
  const device::Device* device = nullptr;
  std::shared_ptr<const void> binaries;  // of the plan, while the device may look for them
  std::vector<LoadedStep> steps;         // one per step of the plan
  RuleSet rules;                         // of fusion, that are not switched off
  Candidates candidates;
  std::vector<std::shared_ptr<const void>>
      weights;                        // one per weight of the plan; null where no kernel reads it any more
  std::vector<WeightSource> sources;  // one per weight
  size_t weight_bytes = 0;            // of those that are held
  size_t packed_bytes = 0;            // of what kernels made of the others
  size_t shared_bytes = 0;            // of both, in memory that other processes may share
  bool force_reference = false;
  bool replays = true;  // calls are recorded where the device can
  std::vector<BindingInfo> inputs, outputs;
  std::vector<int32_t> counts;  // per tensor of the plan, see plan/counted.h
  // The tensor that counts this one's rows, or -1.
  int32_t countOf(int32_t tensor) const {
    return counts[static_cast<size_t>(tensor)];
  }
};

// Creates the kernels and lets go of the weights that they packed. The plan must carry its weights.
std::shared_ptr<const Model> loadModel(plan::Plan plan, Ownership ownership, const LoadOptions& options,
                                       const device::Device& device);
// Runs `body` and gives EngineErrors that have no location the step's.
template <typename Body>
void locateErrors(const plan::Step& step, Body body) {
  try {
    body();
  } catch (const EngineError& error) {
    if (!error.location().empty() || step.location.empty()) {
      throw;
    }
    throw EngineError(error.code(), error.message(), step.location, error.advice());
  }
}

}  // namespace torchtrt::engine
