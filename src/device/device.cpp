#include "device/device.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "torchtrt/error.h"

namespace torchtrt::device {

namespace {

class HostTimer final : public Timer {
 public:
  void start(Stream) override {
    start_ = Clock::now();
  }
  void stop(Stream) override {
    end_ = Clock::now();
  }
  double microseconds() override {
    return std::chrono::duration<double, std::micro>(end_ - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_, end_;
};

// A device without memory gives null, and copying nothing is not defined for null.
void copyOnHost(void* to, const void* from, size_t bytes) {
  if (to != nullptr && from != nullptr && bytes != 0) {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

Memory::Memory(Memory&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      stream_(other.stream_),
      source_(std::move(other.source_)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(stream_, other.stream_);
  std::swap(source_, other.source_);
  return *this;
}

Memory::~Memory() {
  if (data_ == nullptr) {
    return;
  }
  if (source_ != nullptr) {
    source_->free(data_, bytes_, stream_);
  } else {
    device_->freeBytes(data_, bytes_, stream_);
  }
}

Memory Device::allocate(size_t bytes, const std::string& purpose, Stream stream,
                        std::shared_ptr<MemorySource> source) const {
  if (bytes == 0) {
    return {};
  }
  void* data = source != nullptr ? source->allocate(bytes, stream) : allocateBytes(bytes, stream);
  if (data == nullptr && (source != nullptr || hasMemory())) {
    throw EngineError(ErrorCode::kOutOfMemory,
                      purpose + ": wanted " + std::to_string(bytes) + " bytes on device " + properties().name +
                          ", which has " + std::to_string(properties().memory_bytes),
                      {}, "use smaller inputs or a smaller batch");
  }
  return {this, data, bytes, stream, std::move(source)};
}

void Device::copyIn(void* to, const void* from, size_t bytes, Stream) const {
  copyOnHost(to, from, bytes);
}

void Device::copyOut(void* to, const void* from, size_t bytes, Stream) const {
  copyOnHost(to, from, bytes);
}

void Device::copyWithin(void* to, const void* from, size_t bytes, Stream) const {
  copyOnHost(to, from, bytes);
}

void Device::zero(void* to, size_t bytes, Stream) const {
  if (to != nullptr && bytes != 0) {
    std::memset(to, 0, bytes);
  }
}

void Device::wait(Stream) const {}

std::unique_ptr<Timer> Device::timer() const {
  return std::make_unique<HostTimer>();
}

std::unique_ptr<Recording> Device::record(const std::function<void(Stream)>&) const {
  return nullptr;
}

}  // namespace torchtrt::device
