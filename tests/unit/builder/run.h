// Builds a network and runs it through plan bytes and an engine, for the tests of this folder.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "builder/builder.h"
#include "support/engine_call.h"
#include "torchtrt/network.h"

namespace torchtrt::builder {

// A tensor in memory, row-major or with its axes lying the other way round.
struct LaidOut {
  std::vector<int64_t> strides;
  std::vector<char> memory;

  LaidOut(const network::Weights& tensor, bool reversed) : strides(tensor.dims.size()), memory(tensor.bytes() + 1) {
    const size_t rank = strides.size();
    int64_t stride = 1;
    for (size_t i = 0; i < rank; ++i) {
      const size_t axis = reversed ? i : rank - 1 - i;
      strides[axis] = stride;
      stride *= tensor.dims[axis];
    }
    const size_t size = sizeOf(tensor.dtype);
    std::vector<int64_t> index(rank, 0);
    for (size_t k = 0; k < tensor.count(); ++k) {
      int64_t offset = 0;
      for (size_t i = 0; i < rank; ++i) {
        offset += index[i] * strides[i];
      }
      std::memcpy(memory.data() + static_cast<size_t>(offset) * size, tensor.as<char>() + k * size, size);
      for (size_t i = rank; i-- > 0 && ++index[i] == tensor.dims[i];) {
        index[i] = 0;
      }
    }
  }
};

inline std::vector<network::Weights> runEngine(const engine::Engine& engine,
                                               const std::vector<network::Weights>& inputs, int threads = 1,
                                               bool reversed = false) {
  std::vector<LaidOut> tensors;
  tensors.reserve(inputs.size());
  for (const network::Weights& input : inputs) {
    tensors.emplace_back(input, reversed);
  }
  std::vector<engine::TensorView> views;
  views.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    views.push_back({inputs[i].dtype, static_cast<int32_t>(inputs[i].dims.size()), inputs[i].dims.data(),
                     tensors[i].strides.data(), tensors[i].memory.data()});
  }
  const device::Device& device = testing::deviceOf(engine);
  const testing::InputsOnDevice given(device, views);
  testing::KeptOutputs outputs(device);
  engine.enqueue(given.views(), outputs, threads);
  std::vector<network::Weights> results;
  for (const testing::KeptOutputs::Output& output : outputs.outputs) {
    results.push_back(network::Weights::copyOf(output.dtype, output.dims, output.values<char>().data()));
  }
  return results;
}

inline std::shared_ptr<const engine::Engine> loadPlan(const plan::Plan& plan, engine::LoadOptions options = {}) {
  options.device = testing::testDeviceName();
  const std::string bytes = plan::serialize(plan);
  return engine::Engine::load(testing::bytesOf(bytes), nullptr, {}, options);
}

// The network as it is: no optimization, so that the plan shows the builder's own work.
inline plan::Plan buildText(const std::string& text) {
  return build(*network::parse(text));
}

// One line per step, "convolution(0,2,3,1)": family and the memory order of its output; views as "view".
inline std::string stepsOf(const plan::Plan& plan) {
  std::string text;
  for (const plan::Step& step : plan.steps) {
    std::string order;
    for (const uint8_t axis : plan.tensors[static_cast<size_t>(step.outputs[0])].order) {
      order += (order.empty() ? "" : ",") + std::to_string(axis);
    }
    text += (text.empty() ? "" : " ") + step.family + (order.empty() ? "" : "(" + order + ")");
  }
  return text;
}

}  // namespace torchtrt::builder
