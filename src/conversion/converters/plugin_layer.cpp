#include "conversion/converters/plugin_layer.h"

#include "torchtrt/plugin.h"

namespace torchtrt::conversion::converters {

Layer* addPlugin(const Call& call, const char* type, const std::vector<Tensor*>& inputs, Attributes fields) {
  plugin::registerBuiltinPlugins();
  fields.set("namespace", "torchtrt");
  fields.set("type", type);
  fields.set("version", "1");
  return call.net.addLayer(LayerType::kPLUGIN_V2, inputs, std::move(fields));
}

}  // namespace torchtrt::conversion::converters
