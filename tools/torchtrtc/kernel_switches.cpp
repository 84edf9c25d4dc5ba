#include "kernel_switches.h"

#include <cstdlib>

#include "command_line.h"

namespace torchtrtc {

void addSwitches(CLI::App& command, KernelSwitches& switches) {
  command.add_flag("--reference-kernels", switches.reference_kernels, "Run every step by its reference kernel");
  addRepeatable(command, "--disable-fusion", switches.disabled_fusions, "RULE", "Leave a fusion rule out");
}

void setSwitches(const KernelSwitches& switches) {
  if (switches.reference_kernels) {
    setenv("TORCHTRT_REFERENCE_KERNELS", "1", 1);
  }
  std::string names;
  for (const std::string& name : switches.disabled_fusions) {
    names += (names.empty() ? "" : ",") + name;
  }
  if (!names.empty()) {
    setenv("TORCHTRT_DISABLE_FUSION", names.c_str(), 1);
  }
}

}  // namespace torchtrtc
