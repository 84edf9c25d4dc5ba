// Registers and memory that kernels need, as NVIDIA's compiler tells while it compiles them: that takes no GPU.
#pragma once

#include <string>
#include <vector>

namespace torchtrt::cuda::testing {

// Memory is in bytes: local memory and spills of a thread, shared memory of a block.
struct KernelNeeds {
  std::string name;
  int registers = 0;
  int local = 0;  // arrays and spilled registers
  int spill_stores = 0, spill_loads = 0;
  int shared = 0;

  bool operator==(const KernelNeeds&) const = default;
};

// Reads the log of ptxas --verbose. Throws InternalError where a kernel lacks a line.
std::vector<KernelNeeds> needsIn(const std::string& log);

// Compiles a text by NVRTC with the product's options, for an architecture ("sm_90"), and gives its kernels in the
// compiler's order. Throws InternalError for a text that does not compile, EngineError where NVRTC is missing.
std::vector<KernelNeeds> needsOf(const std::string& text, const std::string& architecture);

// The release of NVRTC to its last number ("13.0.88"). Throws EngineError where NVRTC is missing.
std::string nvrtcRelease();

}  // namespace torchtrt::cuda::testing
