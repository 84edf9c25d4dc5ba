// Watches forwards, then has each engine time its steps.
#include "torchtrt/profile.h"

#include <algorithm>
#include <utility>

#include "base/median.h"
#include "compiler/checking/watch.h"
#include "compiler/reports/text.h"
#include "compiler/target.h"
#include "kernels/backend.h"
#include "runtime/execute.h"
#include "runtime/torch_device.h"
#include "torchtrt/error.h"
#include "torchtrt/runtime.h"

namespace torchtrt {

namespace {

using torch::jit::IValue;

Profile::Engine profileEngine(const compiler::Watched& watched, int calls) {
  Profile::Engine engine{.name = watched.name, .calls = 0, .milliseconds = 0, .steps = {}, .note = ""};
  try {
    for (const engine::StepProfile& step : runtime::profileSteps(watched.inputs.front(), *watched.engine, calls)) {
      engine.steps.push_back({step.name, step.family, step.implementation, toString(step.location), step.microseconds,
                              step.flops, step.bytes, step.factors});
    }
  } catch (const EngineError& error) {
    engine.note = error.what();
  }
  return engine;
}

}  // namespace

double Profile::peakOf(const Step& step) const {
  if (step.factors.empty() || tensor_flops_per_second == 0) {
    return flops_per_second;
  }
  return tensor_flops_per_second * (step.factors == "tf32" ? 0.5 : step.factors == "int8" ? 2 : 1);
}

double Profile::shareOfPeak(const Step& step) const {
  return ratio(step.flops, step.microseconds * 1e-6 * peakOf(step));
}

double Profile::shareOfBandwidth(const Step& step) const {
  return ratio(step.bytes, step.microseconds * 1e-6 * bytes_per_second);
}

namespace ts {

Profile profile(torch::jit::Module module, const std::vector<IValue>& inputs, int calls) {
  if (calls < 1) {
    throw CompileError(ErrorCode::kInvalidOption, "calls is " + std::to_string(calls) + ", expected 1 or more");
  }
  const c10::InferenceMode inference;
  Profile profile;
  profile.threads = runtime::callThreads();
  profile.forwards = calls;
  const at::Device device = compiler::deviceOf(module);
  module.forward(inputs);
  std::vector<double> milliseconds;
  for (int i = 0; i < calls; ++i) {
    runtime::synchronize(device);
    const auto start = compiler::Clock::now();
    module.forward(inputs);
    runtime::synchronize(device);
    milliseconds.push_back(compiler::millisecondsSince(start));
  }
  profile.milliseconds = median(std::move(milliseconds));

  std::vector<compiler::Watched> all;
  {
    compiler::Watch watch(1);
    watch.waitFor(device);
    for (int i = 0; i < calls; ++i) {
      watch.beginForward();
      module.forward(inputs);
    }
    all = watch.watched();
  }
  for (compiler::Watched& watched : all) {
    watched.milliseconds.resize(static_cast<size_t>(calls));
    const double each = median(watched.milliseconds);
    const int64_t count = (watched.calls + calls - 1) / calls;
    if (watched.engine == nullptr) {
      profile.operators.push_back({watched.name, count, each});
      continue;
    }
    profile.engines.push_back(profileEngine(watched, calls));
    profile.engines.back().calls = count;
    profile.engines.back().milliseconds = each;
  }
  std::stable_sort(profile.operators.begin(), profile.operators.end(),
                   [](const auto& a, const auto& b) { return a.milliseconds > b.milliseconds; });
  const device::Device& measured = kernels::deviceNamed(device.str());
  const kernels::Limits limits = kernels::backendOf(&measured).measureLimits(measured, profile.threads);
  profile.flops_per_second = limits.flops;
  profile.tensor_flops_per_second = limits.tensor_flops;
  profile.bytes_per_second = limits.bytes;
  return profile;
}

}  // namespace ts
}  // namespace torchtrt
