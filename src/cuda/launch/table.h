// Numbers that kernels read and the host makes once, as long as a kernel lives: packed weights, roots of one.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/device/cuda_device.h"

namespace torchtrt::cuda {

class Table {
 public:
  Table(std::vector<std::byte> data, std::string purpose)
      : bytes_(data.size()), host_(std::move(data)), purpose_(std::move(purpose)) {}

  size_t bytes() const {
    return bytes_;
  }
  // Returns the table in the device's memory, to which the first call copies it. All calls name one device.
  DevicePointer onDevice(const CudaDevice& device);

 private:
  size_t bytes_;
  std::mutex mutex_;
  std::vector<std::byte> host_;  // until the copy
  std::string purpose_;
  device::Memory memory_;
};

}  // namespace torchtrt::cuda
