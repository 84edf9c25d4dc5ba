// Measures how long the actions of a call take, and how much they compute and move.
#include <algorithm>

#include "cpu/threads/parallel.h"
#include "engine/calls/discarded_outputs.h"
#include "engine/calls/empty_inputs.h"
#include "engine/calls/loaded_engine.h"
#include "engine/schedule/shapes.h"
#include "kernels/work.h"

namespace torchtrt::engine {

namespace {

// The work of a step with these values of the plan's registers.
kernels::Work workOf(const plan::Plan& plan, const plan::Step& step, const std::vector<int64_t>& registers) {
  const auto describe = [&](int32_t index) {
    const plan::Tensor& tensor = plan.tensors[static_cast<size_t>(index)];
    return kernels::TensorDesc{tensor.dtype, dimsOf(tensor.dims, registers), {}};
  };
  kernels::ShapeSet shapes;
  std::vector<bool> present;
  for (const int32_t input : step.inputs) {
    present.push_back(input >= 0);
    shapes.inputs.push_back(input >= 0 ? describe(input) : kernels::TensorDesc());
  }
  for (const int32_t output : step.outputs) {
    shapes.outputs.push_back(describe(output));
  }
  return kernels::workOf(step.family, step.attributes, shapes, present);
}

// Returns the work of all steps of an action. Reads between its steps, and results that are not stored, count for
// nothing.
kernels::Work workOf(const plan::Plan& plan, const Schedule& schedule, const Action& action,
                     const std::vector<int64_t>& registers) {
  const std::vector<int32_t> steps = stepsOf(action);
  const auto stored = std::span(schedule.tensors).subspan(action.first_output, action.scratch - action.first_output);
  kernels::Work all;
  for (const int32_t each : steps) {
    const plan::Step& step = plan.steps[static_cast<size_t>(each)];
    const kernels::Work work = workOf(plan, step, registers);
    all.flops += work.flops;
    all.bytes += work.bytes;
    const int32_t result = step.outputs[0];
    int64_t moves = std::find(stored.begin(), stored.end(), result) == stored.end() ? 1 : 0;
    for (const int32_t reader : steps) {
      const std::vector<int32_t>& inputs = plan.steps[static_cast<size_t>(reader)].inputs;
      moves += std::count(inputs.begin(), inputs.end(), result);
    }
    const plan::Tensor& tensor = plan.tensors[static_cast<size_t>(result)];
    all.bytes -= static_cast<double>(moves) *
                 static_cast<double>(plan::checkedBytes(dimsOf(tensor.dims, registers), tensor.dtype));
  }
  return all;
}

}  // namespace

std::vector<StepProfile> LoadedEngine::profile(std::span<const TensorView> inputs, int calls, int threads) const {
  const Way way = wayOf({threads, nullptr});
  DiscardedOutputs outputs(*model_->device);
  const FilledInputs filled(*model_, inputs);
  ContextLease lease = this->lease(filled.span(), way);
  begin(lease, filled.span(), outputs, way);
  const Context& context = lease.context();
  const Schedule& shapes = *context.bound();
  const std::vector<int64_t> registers = evaluateShapes(model_->plan, filled.span());
  std::vector<StepProfile> profiles;
  for (const Action& action : shapes.actions) {
    StepProfile profile;
    const RunningStep step = runningStep(*model_, action);
    profile.name = step.name;
    profile.family = step.family;
    profile.implementation = step.implementation;
    profile.location = step.location;
    if (action.step >= 0) {
      const kernels::Work work = workOf(model_->plan, shapes, action, registers);
      profile.flops = work.flops;
      profile.bytes = work.bytes;
    }
    profiles.push_back(std::move(profile));
  }
  const kernels::ThreadScope scope(way.threads);
  runLocated(context, way);  // what is slow only once shall not count
  const std::unique_ptr<device::Timer> timer = model_->device->timer();
  for (int call = 0; call < calls; ++call) {
    for (size_t i = 0; i < shapes.actions.size(); ++i) {
      timer->start({});
      context.runAction(shapes.actions[i], way.threads, {});
      timer->stop({});
      profiles[i].microseconds += timer->microseconds() / calls;
    }
  }
  return profiles;
}

}  // namespace torchtrt::engine
