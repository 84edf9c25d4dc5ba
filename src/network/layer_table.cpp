// The layer table as data, and as a page of documentation.
#include <unordered_map>

#include "base/check.h"
#include "base/operations.h"
#include "network/rules/rules.h"
#include "torchtrt/network.h"

namespace torchtrt::network {

const std::vector<LayerInfo>& layerTable() {
  static const auto* table = new std::vector<LayerInfo>{
#define LAYER(ENUM, NAME, MIN, MAX, OUTPUTS, ATTRIBUTES, MEANING) \
  {LayerType::k##ENUM, NAME, #ENUM, MIN, MAX, OUTPUTS, ATTRIBUTES, MEANING},
#include "torchtrt/layer_table.def"
#undef LAYER
  };
  return *table;
}

const LayerInfo& layerInfo(LayerType type) {
  const auto index = static_cast<size_t>(type);
  TORCHTRT_CHECK(index < layerTable().size(), "layer type number " << index << " is unknown");
  return layerTable()[index];
}

std::optional<LayerType> parseLayerType(std::string_view name) {
  static const auto* by_name = [] {
    auto* map = new std::unordered_map<std::string_view, LayerType>;
    for (const LayerInfo& info : layerTable()) {
      map->emplace(info.name, info.type);
    }
    return map;
  }();
  const auto found = by_name->find(name);
  return found == by_name->end() ? std::nullopt : std::optional(found->second);
}

namespace {

std::string operandsText(const LayerInfo& info) {
  if (info.max_operands < 0) {
    return info.min_operands == 0 ? "any number" : "at least " + std::to_string(info.min_operands);
  }
  return info.min_operands == info.max_operands
             ? std::to_string(info.min_operands)
             : std::to_string(info.min_operands) + " to " + std::to_string(info.max_operands);
}

// The names that `op` takes, "celu (alpha); not (logical, gives bool)": empty where no table has them.
std::string operationsText(LayerType type) {
  const std::span<const Operation> operations = type == LayerType::kACTIVATION    ? activations()
                                                : type == LayerType::kUNARY       ? unaryOperations()
                                                : type == LayerType::kELEMENTWISE ? binaryOperations()
                                                                                  : std::span<const Operation>();
  std::string text;
  for (const Operation& each : operations) {
    std::string notes(each.text);
    if (each.gives_bool) {
      notes += notes.empty() ? "gives bool" : ", gives bool";
    }
    text +=
        (text.empty() ? "- operations: " : "; ") + std::string(each.name) + (notes.empty() ? "" : " (" + notes + ")");
  }
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string layerTableMarkdown() {
  std::string text =
      "# Layers\n\n"
      "Every kind of layer that the network knows. Generated from `include/torchtrt/layer_table.def`, "
      "`operations.def` and the verifier's rules\n"
      "(`src/base/layer_rules/`): do not edit. `name:type=default` declares an attribute, `?` marks one that may be "
      "absent;\n"
      "`fused` stands for `activation`, `activation_alpha` and `activation_beta`, which the optimizer sets.\n";
  for (const LayerInfo& info : layerTable()) {
    text += "\n## " + std::string(info.name) + "\n\n" + info.meaning + ".\n\n";
    text += "- operands: " + operandsText(info) + "\n";
    text += "- outputs: " + (info.outputs < 0 ? "depends on the attributes" : std::to_string(info.outputs)) + "\n";
    if (*info.attributes != '\0') {
      text += "- attributes: `" + std::string(info.attributes) + "`\n";
    }
    text += operationsText(info.type);
    for (const Rule& rule : rulesOf(info.type)) {
      text += "- rule `" + std::string(rule.name) + "`: " + rule.text + "\n";
    }
  }
  return text;
}

}  // namespace torchtrt::network
