// A plugin that has no device code: its step runs on the host, and waits for its stream.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "torchtrt/plugin.h"

namespace torchtrt::cuda::testing {

class HostCopy final : public plugin::Plugin {
 public:
  bool supports(std::span<const DType>) const override {
    return true;
  }
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const override {
    return {inputs[0]};
  }
  void enqueue(std::span<const plugin::InputView> inputs, std::span<const plugin::OutputView> outputs, void*,
               int) const override {
    size_t bytes = sizeof(float);
    for (const int64_t dim : inputs[0].dims) {
      bytes *= static_cast<size_t>(dim);
    }
    std::memcpy(outputs[0].data, inputs[0].data, bytes);
  }
};

// The plugin is known where a HostPluginScope lives.
class HostPlugin final : public plugin::PluginCreator {
 public:
  static constexpr const char* kNamespace = "cuda_test";
  static constexpr const char* kType = "host_copy";

  std::string pluginNamespace() const override {
    return kNamespace;
  }
  std::string type() const override {
    return kType;
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes&) const override {
    return std::make_unique<HostCopy>();
  }
};

class HostPluginScope {
 public:
  HostPluginScope() {
    plugin::PluginRegistry::global().add(std::make_shared<HostPlugin>());
  }
  ~HostPluginScope() {
    plugin::PluginRegistry::global().remove(HostPlugin::kNamespace, HostPlugin::kType, "1");
  }
  HostPluginScope(const HostPluginScope&) = delete;
  HostPluginScope& operator=(const HostPluginScope&) = delete;
};

}  // namespace torchtrt::cuda::testing
