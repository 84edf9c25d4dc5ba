#include "engine/loading/switches.h"

#include <cstdlib>
#include <sstream>

#include "torchtrt/engine.h"

namespace torchtrt::engine {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool isOn(const char* name) {
  const std::string value = variable(name);
  return !value.empty() && value != "0";
}

}  // namespace

Switches switchesOfEnvironment() {
  Switches switches{isOn("TORCHTRT_REFERENCE_KERNELS"),
                    {},
                    variable("TORCHTRT_CUDA_GRAPHS") != "0",
                    variable("TORCHTRT_CUDA_BINARIES") != "0",
                    isOn("TORCHTRT_SHARE_WEIGHTS")};
  std::istringstream names(variable("TORCHTRT_DISABLE_FUSION"));
  for (std::string name; std::getline(names, name, ',');) {
    if (!name.empty()) {
      switches.disabled_fusions.push_back(name);
    }
  }
  return switches;
}

std::string kernelSwitches() {
  const Switches switches = switchesOfEnvironment();
  std::string text = switches.reference_kernels ? "reference" : "";
  for (const std::string& name : switches.disabled_fusions) {
    text += "," + name;
  }
  text += switches.replays ? "" : ",no CUDA graphs";
  text += switches.takes_binaries ? "" : ",no binaries";
  return text;
}

}  // namespace torchtrt::engine
