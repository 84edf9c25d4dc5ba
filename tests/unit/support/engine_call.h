// Calls an engine from a test: tensors with values, outputs that are kept, bytes that outlive the load.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "support/test_device.h"
#include "torchtrt/engine.h"

namespace torchtrt::testing {

// A float tensor over memory of its own; strides may be changed afterwards.
struct HostTensor {
  std::vector<int64_t> dims, strides;
  std::vector<float> values;

  HostTensor(std::vector<int64_t> shape, std::vector<float> content)
      : dims(std::move(shape)), strides(dims.size()), values(std::move(content)) {
    int64_t stride = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= dims[i];
    }
  }
  // 0, 1, 2, ...
  static HostTensor counting(std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t dim : shape) {
      count *= dim;
    }
    std::vector<float> content(static_cast<size_t>(count));
    std::iota(content.begin(), content.end(), 0.0F);
    return {std::move(shape), std::move(content)};
  }
  engine::TensorView view() const {
    return {DType::kFloat32, static_cast<int32_t>(dims.size()), dims.data(), strides.data(), values.data()};
  }
};

// Keeps what an engine writes, in the memory of its device.
class KeptOutputs : public engine::OutputAllocator {
 public:
  struct Output {
    DType dtype = DType::kFloat32;
    std::vector<int64_t> dims;
    const device::Device* device = nullptr;
    device::Stream stream;
    device::Memory memory;
    size_t count = 0;

    // Waits for the call that computes them. Throws the errors that it finds late.
    template <typename T = float>
    std::vector<T> values() const {
      std::vector<T> copied(count * sizeOf(dtype) / sizeof(T));
      device->copyOut(copied.data(), memory.data(), copied.size() * sizeof(T), stream);
      return copied;
    }
  };

  explicit KeptOutputs(const device::Device& device = testDevice(), device::Stream stream = {})
      : device_(&device), stream_(stream) {}

  void* allocate(int index, DType dtype, std::span<const int64_t> dims) override {
    if (outputs.size() <= static_cast<size_t>(index)) {
      outputs.resize(static_cast<size_t>(index) + 1);
    }
    Output& output = outputs[static_cast<size_t>(index)];
    output.dtype = dtype;
    output.dims.assign(dims.begin(), dims.end());
    output.device = device_;
    output.stream = stream_;
    output.count = 1;
    for (const int64_t dim : dims) {
      output.count *= static_cast<size_t>(dim);
    }
    output.memory = device::Memory();
    output.memory =
        device_->allocate(std::max<size_t>(output.count * sizeOf(dtype), 1), "an output of a test", stream_);
    return output.memory.data();
  }

  std::vector<Output> outputs;

 private:
  const device::Device* device_;
  device::Stream stream_;
};

inline std::vector<engine::TensorView> viewsOf(const std::vector<HostTensor>& inputs) {
  std::vector<engine::TensorView> views;
  views.reserve(inputs.size());
  for (const HostTensor& input : inputs) {
    views.push_back(input.view());
  }
  return views;
}

inline std::vector<KeptOutputs::Output> callEngine(const engine::Engine& engine, const std::vector<HostTensor>& inputs,
                                                   int threads = 1) {
  const device::Device& device = deviceOf(engine);
  const InputsOnDevice given(device, viewsOf(inputs));
  KeptOutputs outputs(device);
  engine.enqueue(given.views(), outputs, threads);
  return std::move(outputs.outputs);
}

inline std::span<const std::byte> bytesOf(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// The text of the EngineError that `body` throws, with its code; "" when it throws none.
template <typename Body>
std::string errorOf(Body body) {
  try {
    body();
  } catch (const EngineError& error) {
    return error.what();
  }
  return "";
}

}  // namespace torchtrt::testing
