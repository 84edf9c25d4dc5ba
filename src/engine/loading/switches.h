// Switches that the environment sets for all engines that a process loads, to find out if a fusion or a kernel is wrong
// or slow:
//   TORCHTRT_REFERENCE_KERNELS=1    every step runs its reference kernel
//   TORCHTRT_DISABLE_FUSION=a,b     leaves fusion rules out (engine/fusion/list.cpp)
//   TORCHTRT_CUDA_GRAPHS=0          calls on a GPU start kernel by kernel, without a recording
//   TORCHTRT_SHARE_WEIGHTS=1        processes have the weights of equal engines in memory once (device/shared_pages.h)
//   TORCHTRT_CUDA_BINARIES=0        a GPU runs no machine code that a plan brings along: all is compiled here
#pragma once

#include <string>
#include <vector>

namespace torchtrt::engine {

struct Switches {
  bool reference_kernels = false;
  std::vector<std::string> disabled_fusions;
  bool replays = true;
  bool takes_binaries = true;
  bool shares_weights = false;
};

Switches switchesOfEnvironment();

}  // namespace torchtrt::engine
