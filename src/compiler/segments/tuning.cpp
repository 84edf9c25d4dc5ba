#include "compiler/segments/tuning.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>
#include <vector>

#include "base/checkpoint.h"
#include "base/median.h"
#include "compiler/calibration/calibration_runs.h"
#include "compiler/module/module_state.h"

namespace torchtrt::compiler {

namespace {

constexpr double kSlower = 1.05;
constexpr int kWarm = 3;  // PyTorch's executor watches two calls before it optimizes
constexpr size_t kFewestRounds = 10;
constexpr double kSeconds = 0.5;
constexpr double kShort = 50e-6;  // seconds; what takes less is run several times for one reading of the clock

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double timed(const std::function<void()>& run, int times) {
  const auto start = Clock::now();
  for (int i = 0; i < times; ++i) {
    checkpoint();
    run();
  }
  return secondsSince(start) / times;
}

}  // namespace

std::optional<Refusal> refuseIfSlower(const std::function<void()>& engine, const std::function<void()>& torch) {
  timed(engine, kWarm);
  timed(torch, kWarm);
  const double longer = std::max(timed(engine, 1), timed(torch, 1));
  const int times = static_cast<int>(std::ceil(kShort / std::max(longer, 1e-7)));
  std::vector<double> of_engine;
  std::vector<double> of_torch;
  const auto start = Clock::now();
  while (of_engine.size() < kFewestRounds || secondsSince(start) < kSeconds) {
    of_engine.push_back(timed(engine, times));
    of_torch.push_back(timed(torch, times));
  }
  const double engine_seconds = median(std::move(of_engine));
  const double torch_seconds = median(std::move(of_torch));
  if (engine_seconds <= kSlower * torch_seconds) {
    return std::nullopt;
  }
  std::ostringstream reason;
  reason << std::fixed << std::setprecision(3) << "slower than PyTorch on the sample inputs: " << engine_seconds * 1e3
         << " ms in an engine, " << torch_seconds * 1e3 << " ms in PyTorch";
  return Refusal{"slower", reason.str()};
}

Failures slowerEngines(SegmentEngines& engines, const Task& task, const partitioning::Roles& roles,
                       const torch::jit::Module& module, const std::vector<torch::jit::IValue>& samples) {
  CalibrationRuns runs = calibrationRuns(task, module);
  runs.earlier_calls = callsLeaveState(task.lowered, roles) ? 1 : 0;  // calls find what earlier ones leave
  Failures failures;
  runOnce(runs, samples, [&](const runtime::Engine& engine, const std::vector<at::Tensor>& inputs) {
    failures.merge(engines.timed(engine, inputs));
  });
  return failures;
}

}  // namespace torchtrt::compiler
