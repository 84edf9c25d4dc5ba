// A GPU of an architecture that need not be in this machine. Kernels are prepared for it: it notes the programs that
// they ask for, and compiles those. It has no memory, calls no driver, and runs nothing.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cuda/device/cuda_device.h"
#include "device/machine_code.h"

namespace torchtrt::cuda {

class StandIn final : public CudaDevice, public device::CodeMaker {
 public:
  // "sm_90". It has as many multiprocessors as the largest GPU of that architecture that is sold.
  explicit StandIn(const std::string& architecture);

  bool isHere() const override {
    return false;
  }
  void note(const std::string& text) const;
  std::vector<device::MachineCode> make() const override;

  void copyIn(void*, const void*, size_t, device::Stream) const override {}
  void copyWithin(void*, const void*, size_t, device::Stream) const override {}
  void zero(void*, size_t, device::Stream) const override {}
  void wait(device::Stream) const override {}
  void checkFaults() const override {}

 protected:
  void* allocateBytes(size_t bytes, device::Stream stream) const override;
  void freeBytes(void*, size_t, device::Stream) const override {}

 private:
  mutable std::mutex mutex_;
  mutable std::set<std::string> texts_;
};

}  // namespace torchtrt::cuda
