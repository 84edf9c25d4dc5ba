#include "support/test_device.h"

#include <cstdlib>

#include "kernels/backend.h"
#include "support/deferred_backend.h"

namespace torchtrt::testing {

namespace {

// The bytes from the first element of a view to the end of its last.
size_t bytesOf(const engine::TensorView& view) {
  int64_t last = 0;
  for (int32_t axis = 0; axis < view.rank; ++axis) {
    if (view.dims[axis] == 0) {
      return 0;
    }
    last += (view.dims[axis] - 1) * view.strides[axis];
  }
  return static_cast<size_t>(last + 1) * sizeOf(view.dtype);
}

}  // namespace

const std::string& testDeviceName() {
  static const std::string name = [] {
    deferredDevice();  // makes its name known
    const char* const named = std::getenv("TORCHTRT_TEST_DEVICE");
    return std::string(named == nullptr ? "cpu" : named);
  }();
  return name;
}

const device::Device& testDevice() {
  static const device::Device& device = kernels::deviceNamed(testDeviceName());
  return device;
}

const device::Device& deviceOf(const engine::Engine& engine) {
  testDeviceName();
  return kernels::deviceNamed(engine.device());
}

InputsOnDevice::InputsOnDevice(const device::Device& device, std::span<const engine::TensorView> inputs,
                               device::Stream stream)
    : views_(inputs.begin(), inputs.end()) {
  for (engine::TensorView& view : views_) {
    if (device.isHost() || view.data == nullptr) {
      continue;
    }
    const size_t bytes = bytesOf(view);
    memory_.push_back(device.allocate(bytes, "an input of a test", stream));
    device.copyIn(memory_.back().data(), view.data, bytes, stream);
    view.data = memory_.back().data();
  }
}

}  // namespace torchtrt::testing
