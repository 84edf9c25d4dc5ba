// Devices as libtorch knows them: whether they are there, the stream that a caller has made current, memory from
// PyTorch's caching allocator. Everything goes through libtorch's device-neutral interfaces, so that no CUDA header and
// no library of CUDA's is needed to build or to load this.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <torch/script.h>

#include "torchtrt/engine.h"
#include "torchtrt/export.h"

namespace torchtrt::runtime {

// True if libtorch can use a device of that type on this machine. Opens libtorch_cuda beside libtorch where that was
// not done yet. `why` then says what is missing.
TORCHTRT_API bool isThere(const at::Device& device, std::string& why);
// Makes libtorch ready to use it. Throws EngineError (kInputDevice) that says what is missing.
TORCHTRT_API void needDevice(const at::Device& device);
// Returns the device with an index in any case: "cuda" is the current CUDA device, or the first if there is none yet.
TORCHTRT_API at::Device withIndex(const at::Device& device);
// Makes CUDA devices that were used before a fork lost behind it, from now on.
void watchForksOfDevices();

// PyTorch's allocator as a source of the workspaces of calls; null for the CPU. Memory is of the current stream: give
// that to the call.
std::shared_ptr<device::MemorySource> memorySource(const at::Device& device);

// Makes a device current while it lives. Does nothing for the CPU.
class TORCHTRT_API DeviceScope {
 public:
  enum class Stream : uint8_t { kCurrent, kDefault };
  // Makes the device current; with kDefault also its default stream. Throws EngineError for a device that this process
  // lost when it was forked.
  explicit DeviceScope(const at::Device& device, Stream stream = Stream::kCurrent);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  // Returns the current stream, as engine::CallOptions take it.
  void* stream() const;

 private:
  at::Device device_;
  at::Device before_;
  std::optional<c10::Stream> stream_before_;
};

// Waits for all that was given to the device's current stream. Nothing to do for the CPU.
TORCHTRT_API void synchronize(const at::Device& device);

}  // namespace torchtrt::runtime
