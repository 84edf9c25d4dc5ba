#include "compiler/segments/kernel_choice.h"

#include <utility>

#include "base/logging.h"
#include "builder/kernel_timing.h"
#include "engine/loading/problem.h"
#include "kernels/backend.h"

namespace torchtrt::compiler {

namespace {

// True if engines run on a device of this machine.
bool isKnown(const DeviceTarget& target) {
  return target.isGpu() || target.engineType() == at::kCPU;
}

// True if kernels of that device are to be looked at: for a timing cache, or for the cost of batch_invariant.
bool looksAtKernels(const ts::CompileSpec& spec) {
  return spec.batch_invariant || !spec.timing_cache.empty();
}

std::vector<Report::Timing> toldOf(const plan::Plan& plan, const std::vector<builder::TimedStep>& steps) {
  std::vector<Report::Timing> timings;
  for (const builder::TimedStep& each : steps) {
    const plan::Step& step = plan.steps[each.step];
    timings.push_back({step.name, step.family, each.timing.implementation, each.timing.by_rule,
                       each.timing.microseconds, each.timing.by_rule_microseconds, each.is_cached});
  }
  return timings;
}

}  // namespace

KernelChoice::KernelChoice(const ts::CompileSpec& spec, const DeviceTarget& target, PhaseClock& clock)
    : device_(target.isGpu() && looksAtKernels(spec) ? kernels::deviceNamed(target.device.str()) : device::cpu()),
      is_known_(isKnown(target)),
      // A kernel that was timed at one batch is the fastest at that batch.
      file_(is_known_ && !spec.batch_invariant ? spec.timing_cache : ""),
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
  if (plan.batch_invariant && is_known_) {
    invariant_[plan.name] =
        toldOf(plan, clock_.run(Phase::kTuning, [&] { return builder::costOfInvariance(plan, seconds_, device_); }));
  }
  if (file_.empty()) {
    return;
  }
  const std::vector<builder::TimedStep> timed =
      clock_.run(Phase::kTuning, [&] { return builder::chooseKernels(plan, known_, seconds_, device_); });
  timings_[plan.name] = toldOf(plan, timed);
}

void KernelChoice::write() const {
  if (known_.size() > read_) {
    builder::addTimings(file_, {{machine_, known_}});
  }
}

void KernelChoice::addTo(Report& report) const {
  for (Report::Segment& segment : report.segments) {
    for (const auto& [all, of_segment] :
         {std::pair(&timings_, &segment.timings), std::pair(&invariant_, &segment.invariant)}) {
      if (const auto found = all->find(segment.name); found != all->end()) {
        *of_segment = found->second;
      }
    }
  }
}

}  // namespace torchtrt::compiler
