// Numbers of outputs.
#include "network/output_count.h"

#include "network/attribute_spec.h"
#include "torchtrt/plugin.h"

namespace torchtrt::network {
namespace {

// Throws CompileError (kInvalidNetwork) unless the layer names a plugin: namespace, type and version are texts.
void checkPluginNames(const Attributes& attributes, const Location& location) {
  for (const AttributeSpec& spec : attributeSpecs(LayerType::kPLUGIN_V2).list) {
    const AttributeValue* value = attributes.find(spec.name);
    const std::string got = value == nullptr ? "none" : attributeTypeName(*value);
    if (got != spec.type) {
      throw CompileError(
          ErrorCode::kInvalidNetwork,
          "a layer plugin_v2: expected attribute \"" + spec.name + "\" of type " + spec.type + ", got " + got,
          location);
    }
  }
}

int pluginOutputCount(const Attributes& attributes, const Location& location) {
  checkPluginNames(attributes, location);
  const plugin::PluginRegistry& registry = plugin::PluginRegistry::global();
  int count = 0;
  try {
    count = registry.create(attributes)->outputCount();
  } catch (const EngineError& error) {
    // A plugin that is there and refuses its fields says that they are wrong, not that it is missing.
    const bool is_there = registry.find(attributes.getString("namespace"), attributes.getString("type"),
                                        attributes.getString("version")) != nullptr;
    const bool are_fields_wrong = is_there && error.code() == ErrorCode::kPlugin;
    throw CompileError(are_fields_wrong ? ErrorCode::kInvalidNetwork : error.code(), error.message(), location,
                       error.advice());
  }
  if (count < 1) {
    throw CompileError(
        ErrorCode::kInvalidNetwork,
        "plugin " + attributes.getString("type") + ": expected at least one output, got " + std::to_string(count),
        location);
  }
  return count;
}

}  // namespace

int outputCount(LayerType type, const Attributes& attributes, const Location& location) {
  if (const int count = layerInfo(type).outputs; count >= 0) {
    return count;
  }
  if (type == LayerType::kPLUGIN_V2) {
    return pluginOutputCount(attributes, location);
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
