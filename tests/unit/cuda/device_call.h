// Calls an engine on the GPU with tensors of the host, and reads the results.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "cuda/device/cuda_device.h"
#include "device/device.h"
#include "engine/load.h"
#include "kernels/backend.h"

namespace torchtrt::cuda::testing {

inline const device::Device& gpu() {
  return kernels::deviceNamed("cuda:0");
}

// Outputs in memory of the device, which stay until this dies.
class DeviceOutputs final : public engine::OutputAllocator {
 public:
  explicit DeviceOutputs(device::Stream stream = {}) : stream_(stream) {}
  void* allocate(int, DType dtype, std::span<const int64_t> dims) override {
    const auto count = static_cast<size_t>(kernels::countOf({dims.begin(), dims.end()}));
    counts_.push_back(count);
    memory_.push_back(gpu().allocate(count * sizeOf(dtype), "an output of a test", stream_));
    return memory_.back().data();
  }
  std::vector<std::vector<float>> values() const {
    std::vector<std::vector<float>> values;
    for (size_t i = 0; i < counts_.size(); ++i) {
      values.emplace_back(counts_[i]);
      gpu().copyOut(values.back().data(), memory_[i].data(), counts_[i] * sizeof(float), stream_);
    }
    return values;
  }

 private:
  device::Stream stream_;
  std::vector<size_t> counts_;
  std::deque<device::Memory> memory_;
};

// The GPU's context in this thread, for tests that call the driver themselves.
class InContextOfGpu {
 private:
  ContextScope scope_{dynamic_cast<const CudaDevice&>(gpu())};
};

class OwnStream {
 public:
  OwnStream() {
    const InContextOfGpu context;
    check(driver().createStream(&handle_, kStreamNonBlocking), "a test's stream");
  }
  ~OwnStream() {
    driver().destroyStream(handle_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  device::Stream stream() const {
    return {handle_};
  }
  StreamHandle handle() const {
    return handle_;
  }

 private:
  StreamHandle handle_ = nullptr;
};

// Outputs of up to 64 KiB each in the same memory for every call, which is there before the first one.
class GivenOutputs final : public engine::OutputAllocator {
 public:
  explicit GivenOutputs(size_t count, device::Stream stream = {}) : stream_(stream), counts_(count) {
    for (size_t i = 0; i < count; ++i) {
      memory_.push_back(gpu().allocate(size_t{1} << 16, "an output of a test", stream_));
    }
  }
  void* allocate(int index, DType, std::span<const int64_t> dims) override {
    const auto at = static_cast<size_t>(index);
    counts_[at] = static_cast<size_t>(kernels::countOf({dims.begin(), dims.end()}));
    return memory_[at].data();
  }
  std::vector<std::vector<float>> values() const {
    std::vector<std::vector<float>> values;
    for (size_t i = 0; i < counts_.size(); ++i) {
      values.emplace_back(counts_[i]);
      gpu().copyOut(values.back().data(), memory_[i].data(), counts_[i] * sizeof(float), stream_);
    }
    return values;
  }

 private:
  device::Stream stream_;
  std::vector<size_t> counts_;
  std::deque<device::Memory> memory_;
};

// A workspace that lies where it lay before, as that of a caching allocator does.
class SameBlock final : public device::MemorySource {
 public:
  void* allocate(size_t bytes, device::Stream) override {
    return bytes <= block_.bytes() ? block_.data() : nullptr;
  }
  void free(void*, size_t, device::Stream) override {}

 private:
  device::Memory block_ = gpu().allocate(size_t{1} << 16, "a test's workspace");
};

// Tensors of the host in memory of the device.
class DeviceInputs {
 public:
  explicit DeviceInputs(const std::vector<torchtrt::testing::HostTensor>& tensors, device::Stream stream = {})
      : tensors_(tensors), stream_(stream) {
    for (const auto& tensor : tensors_) {
      memory_.push_back(gpu().allocate(tensor.values.size() * sizeof(float), "an input of a test", stream_));
      views_.push_back(tensor.view());
      views_.back().data = memory_.back().data();
    }
    fill(tensors_);
  }
  DeviceInputs(const DeviceInputs&) = delete;
  DeviceInputs& operator=(const DeviceInputs&) = delete;
  // Other values of the same shapes.
  void fill(const std::vector<torchtrt::testing::HostTensor>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      gpu().copyIn(memory_[i].data(), tensors[i].values.data(), tensors[i].values.size() * sizeof(float), stream_);
    }
    gpu().wait(stream_);  // other streams may read them
  }
  const std::vector<engine::TensorView>& views() const {
    return views_;
  }

 private:
  std::vector<torchtrt::testing::HostTensor> tensors_;
  device::Stream stream_;
  std::deque<device::Memory> memory_;
  std::vector<engine::TensorView> views_;
};

inline std::vector<std::vector<float>> callOnDevice(const engine::Engine& engine,
                                                    const std::vector<torchtrt::testing::HostTensor>& tensors,
                                                    device::Stream stream = {}) {
  const DeviceInputs inputs(tensors, stream);
  DeviceOutputs outputs(stream);
  engine.enqueue(inputs.views(), outputs, engine::CallOptions{1, stream.handle});
  return outputs.values();
}

}  // namespace torchtrt::cuda::testing
