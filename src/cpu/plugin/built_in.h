// The creators of torchtrt's own plugins share this: a template over the plugin, whose class gives its name and fields.
#pragma once

#include <memory>
#include <string>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels {

// A plugin whose calls allocate no memory but that of their threads (threads/thread_memory.h), take no lock and make no
// system call.
class RunsInRealTime {
 public:
  virtual ~RunsInRealTime() = default;
};

// PluginType has kType and is made from the layer's fields. kFields, where it has them, are names of those that it
// needs.
template <typename PluginType>
class BuiltInCreator final : public plugin::PluginCreator {
 public:
  std::string pluginNamespace() const override {
    return "torchtrt";
  }
  std::string type() const override {
    return PluginType::kType;
  }
  std::unique_ptr<plugin::Plugin> create(const Attributes& fields) const override {
    if constexpr (requires { PluginType::kFields; }) {
      for (const char* name : PluginType::kFields) {
        if (!fields.has(name)) {
          throw EngineError(ErrorCode::kPlugin, std::string(PluginType::kType) + ": field " + name + " is needed");
        }
      }
    }
    return std::make_unique<PluginType>(fields);
  }
};

}  // namespace torchtrt::kernels
