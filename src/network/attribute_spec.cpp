#include "network/attribute_spec.h"

namespace torchtrt::network {
namespace {

void setMissing(Attributes& attributes, const char* name, size_t count, int64_t value) {
  if (!attributes.has(name)) {
    attributes.set(name, std::vector<int64_t>(count, value));
  }
}

void completeWindow(LayerType type, const std::vector<Tensor*>& inputs, Attributes& attributes) {
  size_t spatial = 0;
  if (type == LayerType::kPOOLING) {
    const AttributeValue* window = attributes.find("window");
    if (window == nullptr || !std::holds_alternative<std::vector<int64_t>>(*window)) {
      return;
    }
    spatial = std::get<std::vector<int64_t>>(*window).size();
    if (!attributes.has("stride")) {
      attributes.set("stride", *window);
    }
  } else {
    if (inputs.size() < 2 || inputs[1] == nullptr || inputs[1]->rank() < 2) {
      return;
    }
    spatial = static_cast<size_t>(inputs[1]->rank() - 2);
    setMissing(attributes, "stride", spatial, 1);
  }
  setMissing(attributes, "pre_padding", spatial, 0);
  setMissing(attributes, "post_padding", spatial, 0);
  setMissing(attributes, "dilation", spatial, 1);
  if (type == LayerType::kDECONVOLUTION) {
    setMissing(attributes, "output_padding", spatial, 0);
  }
}

}  // namespace

const AttributeSpecs& attributeSpecs(LayerType type) {
  static const auto* all = [] {
    auto* specs = new std::vector<AttributeSpecs>;
    for (const LayerInfo& info : layerTable()) {
      specs->push_back(parseAttributeSpecs(info.attributes));
    }
    return specs;
  }();
  return (*all)[static_cast<size_t>(type)];
}

AttributeValue toDeclaredType(LayerType type, const std::string& name, AttributeValue value) {
  const AttributeSpec* spec = attributeSpecs(type).find(name);
  if (spec == nullptr) {
    return value;
  }
  if (const auto* number = std::get_if<int64_t>(&value); number != nullptr && spec->type == "double") {
    return static_cast<double>(*number);
  }
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value); numbers != nullptr && spec->type == "dims") {
    return Dims::of(*numbers);
  }
  return value;
}

void completeAttributes(LayerType type, const std::vector<Tensor*>& inputs, Attributes& attributes) {
  for (const AttributeSpec& spec : attributeSpecs(type).list) {
    if (const AttributeValue* given = attributes.find(spec.name)) {
      attributes.set(spec.name, toDeclaredType(type, spec.name, *given));
    } else if (spec.fallback) {
      attributes.set(spec.name, *spec.fallback);
    }
  }
  switch (type) {
    case LayerType::kCONVOLUTION:
    case LayerType::kQUANTIZED_CONVOLUTION:
    case LayerType::kDECONVOLUTION:
    case LayerType::kPOOLING:
      completeWindow(type, inputs, attributes);
      break;
    case LayerType::kSLICE:
      if (const AttributeValue* size = attributes.find("size");
          size != nullptr && std::holds_alternative<Dims>(*size)) {
        setMissing(attributes, "stride", static_cast<size_t>(std::get<Dims>(*size).rank()), 1);
      }
      break;
    default:
      break;
  }
}

}  // namespace torchtrt::network
