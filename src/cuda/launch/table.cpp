#include "cuda/launch/table.h"

namespace torchtrt::cuda {

DevicePointer Table::onDevice(const CudaDevice& device) {
  const std::lock_guard lock(mutex_);
  if (!host_.empty()) {
    memory_ = device.allocate(bytes_, purpose_);
    device.copyIn(memory_.data(), host_.data(), bytes_, {});
    device.wait({});
    host_ = {};
  }
  return reinterpret_cast<DevicePointer>(memory_.data());
}

}  // namespace torchtrt::cuda
