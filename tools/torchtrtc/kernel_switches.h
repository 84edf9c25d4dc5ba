// The options of torchtrtc that switch fusion rules and fast kernels off, for all engines that a command loads.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace torchtrtc {

struct KernelSwitches {
  bool reference_kernels = false;
  std::vector<std::string> disabled_fusions;
};

void addSwitches(CLI::App& command, KernelSwitches& switches);
// Call it before the first engine is loaded.
void setSwitches(const KernelSwitches& switches);

}  // namespace torchtrtc
