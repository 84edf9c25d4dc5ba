// The device of a compile: where its engines run, and where PyTorch runs meanwhile.
#pragma once

#include <optional>
#include <string>

#include <torch/script.h>

#include "runtime/device_info.h"
#include "torchtrt/options.h"

namespace torchtrt::compiler {

struct DeviceTarget {
  at::Device device = at::kCPU;  // of the module, its example runs and its engines while they are compiled
  at::Device from = at::kCPU;    // where the module that was given has its tensors
  bool has_gpus = false;         // on this machine
  std::string architecture;      // of the GPU that was named as target, "sm_90"; else empty
  // The place of the engines. A module for a GPU that this machine does not have is compiled, and runs, on the CPU.
  runtime::Placement placement;

  bool isGpu() const {
    return !device.is_cpu();
  }
  // True if a graph's devices matter: there is another one than the CPU.
  bool mayMeetOthers() const {
    return isGpu() || !placement.info.empty() || has_gpus;
  }
  // Returns the type of the device on which the engines will run, here or on another machine.
  at::DeviceType engineType() const {
    return isGpu() || !placement.info.empty() ? at::kCUDA : at::kCPU;
  }
};

// Throws CompileError(kInvalidOption) for a device that is not here, and says what is missing. The module may be null.
DeviceTarget targetOf(const ts::CompileSpec& spec, const torch::jit::Module* module);

// Returns the device of a module: of its first engine, else of its first tensor, else the CPU.
at::Device deviceOf(const torch::jit::Module& module);

// Returns the place of an engine that is not compiled, but embedded.
runtime::Placement placementOf(const Device& device);

}  // namespace torchtrt::compiler
