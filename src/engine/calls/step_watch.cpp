#include "engine/calls/step_watch.h"

#include <utility>

#include "engine/calls/loaded_engine.h"
#include "engine/loading/model.h"
#include "engine/schedule/schedule.h"

namespace torchtrt::engine {
namespace {

thread_local StepWatch* current_watch = nullptr;

}  // namespace

RunningStep runningStep(const Model& model, const Action& action) {
  if (action.step < 0) {
    return {"copy", "copy", "", {}};
  }
  const auto index = static_cast<size_t>(action.step);
  RunningStep step{"", model.plan.steps[index].family, model.steps[index].implementation,
                   model.plan.steps[index].location};
  for (const int32_t each : stepsOf(action)) {
    step.name += (step.name.empty() ? "" : " + ") + model.plan.steps[static_cast<size_t>(each)].name;
  }
  return step;
}

StepWatchScope::StepWatchScope(StepWatch& watch) : outer_(std::exchange(current_watch, &watch)) {}

StepWatchScope::~StepWatchScope() {
  current_watch = outer_;
}

StepWatch* stepWatch() {
  return current_watch;
}

}  // namespace torchtrt::engine
