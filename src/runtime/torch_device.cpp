#include "runtime/torch_device.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <filesystem>
#include <mutex>

#include <ATen/Context.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/FakeGuardImpl.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/file_of_code.h"
#include "libtorch/versions.h"
#include "torchtrt/error.h"

namespace torchtrt::runtime {

namespace {

// Once a CUDA device was used, a child of this process can use none.
std::atomic<bool> was_used = false;
bool is_lost = false;

// libtorch's part for CUDA lies beside its part for the CPU. A program that links the latter alone has not loaded it.
void openTorchCuda() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::filesystem::path torch = fileOfCode(reinterpret_cast<const void*>(&at::globalContext));
    if (c10::impl::hasDeviceGuardImpl(at::kCUDA) || torch.empty()) {
      return;
    }
    const std::filesystem::path library = torch.parent_path() / "libtorch_cuda.so";
    dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);  // the next request reports a missing library
  });
}

void checkNotLost(const at::Device& device) {
  if (is_lost && !device.is_cpu()) {
    throw EngineError(ErrorCode::kInputDevice, "this process is a fork of one that had used CUDA, and cannot use it",
                      {}, "start the process with spawn, or load modules for a GPU behind the fork alone");
  }
}

class TorchMemory final : public device::MemorySource {
 public:
  explicit TorchMemory(at::DeviceType type) : allocator_(c10::GetAllocator(type)) {}

  void* allocate(size_t bytes, device::Stream) override {
    try {
      return allocator_->raw_allocate(bytes);
    } catch (const c10::Error&) {
      return nullptr;  // the engine then says how much it wanted, and what for
    }
  }
  void free(void* data, size_t, device::Stream) override {
    allocator_->raw_deallocate(data);
  }

 private:
  c10::Allocator* allocator_;
};

}  // namespace

bool isThere(const at::Device& device, std::string& why) {
  if (device.is_cpu()) {
    return true;
  }
  if (!device.is_cuda()) {
    why = "engines run on devices of the kinds cpu and cuda, not on " + device.str();
    return false;
  }
  openTorchCuda();
  if (!c10::impl::hasDeviceGuardImpl(at::kCUDA)) {
    why = "this libtorch was built without CUDA";
    return false;
  }
  const c10::impl::DeviceGuardImplInterface* const guard = c10::impl::getDeviceGuardImpl(at::kCUDA);
  // Fake tensors (torch.export, torch.compile) bring a guard of eight GPUs to machines that have none.
  const bool is_fake = dynamic_cast<const c10::impl::FakeGuardImpl<at::kCUDA>*>(guard) != nullptr;
  const int count = is_fake ? 0 : guard->deviceCount();
  if (count == 0) {
    why = "libtorch finds no GPU (is a driver installed that is new enough for it?)";
    return false;
  }
  if (device.has_index() && device.index() >= count) {
    why = "the last one is " + at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(count - 1)).str();
    return false;
  }
  return true;
}

void needDevice(const at::Device& device) {
  std::string why;
  checkNotLost(device);
  if (!isThere(device, why)) {
    throw EngineError(ErrorCode::kInputDevice, "there is no device " + device.str() + ": " + why, {},
                      "use the device \"cpu\"; a file loads there with map_location=\"cpu\"");
  }
  if (device.is_cpu()) {
    return;
  }
  try {
    at::globalContext().lazyInitDevice(device.type());
  } catch (const c10::Error& error) {
    throw EngineError(ErrorCode::kInputDevice,
                      "the device " + device.str() + " cannot be used: " + error.what_without_backtrace());
  }
  was_used = true;
}

at::Device withIndex(const at::Device& device) {
  std::string why;
  if (device.is_cpu() || device.has_index()) {
    return device.is_cpu() ? at::Device(at::kCPU) : device;
  }
  return isThere(device, why) ? c10::impl::getDeviceGuardImpl(device.type())->getDevice()
                              : at::Device(device.type(), 0);
}

void watchForksOfDevices() {
  pthread_atfork(nullptr, nullptr, [] { is_lost = is_lost || was_used; });
}

std::shared_ptr<device::MemorySource> memorySource(const at::Device& device) {
  return device.is_cpu() ? nullptr : std::make_shared<TorchMemory>(device.type());
}

DeviceScope::DeviceScope(const at::Device& device, Stream stream) : device_(device), before_(device) {
  if (device_.is_cpu()) {
    return;
  }
  checkNotLost(device_);
  const c10::impl::VirtualGuardImpl guard(device_.type());
  before_ = guard.exchangeDevice(device_);
  if (stream == Stream::kDefault) {
    stream_before_ = guard.exchangeStream(guard.getDefaultStream(device_));
  }
}

DeviceScope::~DeviceScope() {
  if (device_.is_cpu()) {
    return;
  }
  const c10::impl::VirtualGuardImpl guard(device_.type());
  if (stream_before_) {
    guard.exchangeStream(*stream_before_);
  }
  guard.uncheckedSetDevice(before_);
}

void* DeviceScope::stream() const {
  if (device_.is_cpu()) {
    return nullptr;
  }
  const c10::impl::VirtualGuardImpl guard(device_.type());
  return libtorch::nativeHandle(guard, guard.getStream(device_));
}

void synchronize(const at::Device& device) {
  if (!device.is_cpu()) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    guard.synchronizeStream(guard.getStream(device));
  }
}

}  // namespace torchtrt::runtime
