#include "device/device.h"

#include <utility>

#include "torchtrt/error.h"

namespace torchtrt::device {

Memory::Memory(Memory&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Memory::~Memory() {
  if (data_ != nullptr) {
    device_->freeBytes(data_, bytes_);
  }
}

Memory Device::allocate(size_t bytes, const std::string& purpose) const {
  if (bytes == 0) {
    return {};
  }
  void* data = allocateBytes(bytes);
  if (data == nullptr && hasMemory()) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      purpose + ": wanted " + std::to_string(bytes) + " bytes on device " + properties().name +
                          ", which has " + std::to_string(properties().memory_bytes),
                      {}, "use smaller inputs or a smaller batch");
  }
  return {this, data, bytes};
}

}  // namespace torchtrt::device
