// The plugins of this folder share this. Private to it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu/plugin/built_in.h"
#include "cpu/regions/plugin_operands.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::counted {

// Outputs in order, the number last; which of them it counts is up to the plugin.
class CountedPlugin : public plugin::Plugin {
 public:
  int outputCount() const override {
    return outputs_;
  }

 protected:
  // Throws EngineError (kPlugin) unless the fields name as counted what is: without that an engine would show memory
  // that nobody wrote.
  CountedPlugin(std::string type, const Attributes& fields, int outputs, const std::vector<int64_t>& counted)
      : type_(std::move(type)), outputs_(outputs) {
    const AttributeValue* named = fields.find("counted");
    if (named == nullptr || *named != AttributeValue(counted)) {
      fail("the field counted does not name the outputs whose rows it counts");
    }
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw EngineError(ErrorCode::kPlugin, type_ + ": " + problem);
  }

  // Types of the operands, of which there have to be as many.
  void requireOperands(std::span<const TensorType> inputs, size_t count) const {
    if (inputs.size() != count) {
      fail("expected " + std::to_string(count) + " operands, got " + std::to_string(inputs.size()));
    }
  }

 private:
  std::string type_;
  int outputs_;
};

// Writes the count to a plugin's last output.
inline void writeCount(std::span<const plugin::OutputView> outputs, int64_t count) {
  *static_cast<int64_t*>(outputs.back().data) = count;
}

}  // namespace torchtrt::kernels::counted
