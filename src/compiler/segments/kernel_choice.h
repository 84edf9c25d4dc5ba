// The timing cache during one compile: choices that it holds are made, with `tune` others are timed and written to it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "builder/timing_cache.h"
#include "compiler/phase_clock.h"
#include "compiler/target.h"
#include "device/device.h"
#include "plan/plan.h"
#include "torchtrt/compile.h"

namespace torchtrt::compiler {

class KernelChoice {
 public:
  // Reads the file, where one is named.
  KernelChoice(const ts::CompileSpec& spec, const DeviceTarget& target, PhaseClock& clock);

  // Sets the plan's hints, as builder::chooseKernels does. With batch_invariant it sets none, and notes what that
  // costs.
  void choose(plan::Plan& plan);
  // Writes the timing cache if something was timed.
  void write() const;
  // Into the segments of the engines that were chosen for.
  void addTo(Report& report) const;

 private:
  const device::Device& device_;
  const bool is_known_;  // the device is this machine's
  const std::string file_;
  double seconds_ = 0;
  PhaseClock& clock_;
  std::string machine_;
  builder::Timings known_;
  size_t read_ = 0;                                               // of those that are known
  std::map<std::string, std::vector<Report::Timing>> timings_;    // by engine
  std::map<std::string, std::vector<Report::Timing>> invariant_;  // the same, of what batch_invariant costs
};

}  // namespace torchtrt::compiler
