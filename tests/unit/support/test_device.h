// The device that tests run engines on, and what a call of an engine there takes: the CPU, or the one that
// TORCHTRT_TEST_DEVICE names ("deferred", "cuda:0").
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "torchtrt/engine.h"

namespace torchtrt::testing {

// Returns the name as LoadOptions::device takes it.
const std::string& testDeviceName();
const device::Device& testDevice();
// The device that an engine was loaded on, as long as it is none of a test's own.
const device::Device& deviceOf(const engine::Engine& engine);

// Inputs of a call in the memory of a device. The host's are used where they lie.
class InputsOnDevice {
 public:
  InputsOnDevice(const device::Device& device, std::span<const engine::TensorView> inputs, device::Stream stream = {});
  const std::vector<engine::TensorView>& views() const {
    return views_;
  }

 private:
  std::vector<engine::TensorView> views_;
  std::vector<device::Memory> memory_;
};

}  // namespace torchtrt::testing
