#include "compiler/segments/kernel_choice.h"

#include <utility>

#include "base/logging.h"
#include "builder/kernel_timing.h"
#include "engine/loading/problem.h"
#include "kernels/backend.h"

namespace torchtrt::compiler {

KernelChoice::KernelChoice(const ts::CompileSpec& spec, const DeviceTarget& target, PhaseClock& clock)
    : device_(target.isGpu() && !spec.timing_cache.empty() ? kernels::deviceNamed(target.device.str()) : device::cpu()),
      file_(target.isGpu() || target.engineType() == at::kCPU ? spec.timing_cache : ""),
      seconds_(spec.tune ? spec.tuning_seconds : 0),
      clock_(clock) {
  if (!file_.empty()) {
    machine_ = kernels::backendOf(&device_).machineKey(device_, device_.threadsOf(engine::defaultThreads()));
    builder::TimingCache cache = builder::readTimings(file_);
    known_ = std::move(cache[machine_]);
    read_ = known_.size();
    if (read_ == 0 && !spec.tune) {
      TORCHTRT_LOG(kWARNING, "the timing cache " << file_ << " has nothing for this machine, and tune is not set: "
                                                 << "kernels are chosen by rule");
    }
  }
}

void KernelChoice::choose(plan::Plan& plan) {
  if (file_.empty()) {
    return;
  }
  const std::vector<builder::TimedStep> timed =
      clock_.run(Phase::kTuning, [&] { return builder::chooseKernels(plan, known_, seconds_, device_); });
  std::vector<Report::Timing>& timings = timings_[plan.name];
  timings.clear();
  for (const builder::TimedStep& each : timed) {
    const plan::Step& step = plan.steps[each.step];
    timings.push_back({step.name, step.family, each.timing.implementation, each.timing.by_rule,
                       each.timing.microseconds, each.timing.by_rule_microseconds, each.is_cached});
  }
}

void KernelChoice::write() const {
  if (known_.size() > read_) {
    builder::addTimings(file_, {{machine_, known_}});
  }
}

void KernelChoice::addTo(Report& report) const {
  for (Report::Segment& segment : report.segments) {
    const auto found = timings_.find(segment.name);
    if (found != timings_.end()) {
      segment.timings = found->second;
    }
  }
}

}  // namespace torchtrt::compiler
