// Numbers of outputs.
#include "network/output_count.h"

#include "torchtrt/plugin.h"

namespace torchtrt::network {

int outputCount(LayerType type, const Attributes& attributes, const Location& location) {
  if (const int count = layerInfo(type).outputs; count >= 0) {
    return count;
  }
  if (type == LayerType::kPLUGIN_V2) {
    try {
      return plugin::PluginRegistry::global().create(attributes)->outputCount();
    } catch (const EngineError& error) {
      throw CompileError(error.code(), error.message(), location, error.advice());
    }
  }
  // A value of another type is the verifier's to report.
  const AttributeValue* op = attributes.find("op");
  const auto has_op = [&](const char* name) { return op != nullptr && *op == AttributeValue(std::string(name)); };
  if (type == LayerType::kCUMULATIVE) {
    return has_op("max") || has_op("min") ? 2 : 1;
  }
  if (type == LayerType::kRECURRENT) {
    return has_op("lstm") ? 3 : 2;
  }
  const AttributeValue* indices = attributes.find("return_indices");
  return indices != nullptr && *indices == AttributeValue(true) ? 2 : 1;
}

}  // namespace torchtrt::network
