// Measures how long the actions of a call take, and how much they compute and move.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

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
    all.factors = all.factors.empty() ? work.factors : all.factors;
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

// Times recordings of the first actions of a call.
class RecordedTimes {
 public:
  using Body = std::function<void(size_t action, device::Stream stream)>;

  RecordedTimes(const device::Device& device, Body body, int calls)
      : device_(device), body_(std::move(body)), timer_(device.timer()), calls_(calls) {}

  // Returns the microseconds that each action adds to those in front of it, so that all add up to a call. Nothing if
  // the device records none of it.
  std::vector<double> added(size_t actions) {
    std::vector<double> times;
    std::optional<double> before = timeOf({0});
    const std::optional<double> twice = timeOf({0, 0});
    if (!before || !twice) {
      return {};
    }
    times.push_back(std::max(0.0, *twice - *before));  // starting a recording takes time, too
    std::vector<size_t> all = {0};
    for (size_t action = 1; action < actions; ++action) {
      all.push_back(action);
      const std::optional<double> with = timeOf(all);
      if (!with) {
        return {};
      }
      times.push_back(std::max(0.0, *with - *before));
      before = with;
    }
    return times;
  }

 private:
  // The least of some runs: others wait for what is beside the GPU's work.
  std::optional<double> timeOf(const std::vector<size_t>& actions) {
    constexpr int kLeastRuns = 3;
    constexpr double kEnough = 5e4;  // microseconds
    const std::unique_ptr<device::Recording> recording = device_.record([&](device::Stream stream) {
      for (const size_t action : actions) {
        body_(action, stream);
      }
    });
    if (recording == nullptr) {
      return std::nullopt;
    }
    recording->replay({});
    double least = std::numeric_limits<double>::infinity(), all = 0;
    for (int run = 0; run < std::max(calls_, kLeastRuns) && (run < kLeastRuns || all < kEnough); ++run) {
      timer_->start({});
      recording->replay({});
      timer_->stop({});
      const double microseconds = timer_->microseconds();
      least = std::min(least, microseconds);
      all += microseconds;
    }
    return least;
  }

  const device::Device& device_;
  Body body_;
  std::unique_ptr<device::Timer> timer_;
  int calls_;
};

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
      profile.factors = work.factors;
    }
    profiles.push_back(std::move(profile));
  }
  const kernels::ThreadScope scope(way.threads);
  runLocated(*model_, context, way.threads, way.stream);  // what is slow only once shall not count
  if (shapes.is_replayed && !way.is_captured) {
    const auto body = [&](size_t action, device::Stream stream) {
      runLocated(*model_, context, action, way.threads, stream);
    };
    const std::vector<double> added = RecordedTimes(*model_->device, body, calls).added(shapes.actions.size());
    for (size_t i = 0; i < added.size(); ++i) {
      profiles[i].microseconds = added[i];
    }
    if (!added.empty()) {
      return profiles;
    }
  }
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
