// Reads the attribute notation of layer_table.def.
#include "network/attribute_spec.h"

#include <array>
#include <sstream>

#include "base/check.h"

namespace torchtrt::network {
namespace {

// Indexed by the alternative of AttributeValue.
constexpr std::array<const char*, 8> kTypeNames = {"bool",  "int",  "double",  "string",
                                                   "dtype", "ints", "doubles", "dims"};
static_assert(std::variant_size_v<AttributeValue> == kTypeNames.size());

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

AttributeValue parseDefault(const std::string& type, const std::string& text) {
  if (type == "bool") {
    return text == "1";
  }
  if (type == "int") {
    return static_cast<int64_t>(std::stoll(text));
  }
  if (type == "double") {
    return std::stod(text);
  }
  if (type == "string") {
    return text;
  }
  TORCHTRT_CHECK(text == "[]" && (type == "ints" || type == "doubles"),
                 "default \"" << text << "\" of type " << type << " in the layer table");
  return type == "ints" ? AttributeValue(std::vector<int64_t>{}) : AttributeValue(std::vector<double>{});
}

// name:type, name:type?, name:type=default, name:string(a|b)=a
AttributeSpec parseSpec(const std::string& token) {
  AttributeSpec spec;
  const size_t colon = token.find(':');
  TORCHTRT_CHECK(colon != std::string::npos, "attribute \"" << token << "\" in the layer table");
  spec.name = token.substr(0, colon);
  const size_t type_end = token.find_first_of("(=?", colon);
  spec.type = token.substr(colon + 1, type_end == std::string::npos ? type_end : type_end - colon - 1);
  if (const size_t open = token.find('('); open != std::string::npos) {
    spec.choices = split(token.substr(open + 1, token.find(')') - open - 1), '|');
  }
  if (const size_t equals = token.find('='); equals != std::string::npos) {
    spec.fallback = parseDefault(spec.type, token.substr(equals + 1));
  }
  spec.optional = token.back() == '?';
  return spec;
}

AttributeSpecs parseSpecs(const char* notation) {
  AttributeSpecs specs;
  std::string text = notation;
  if (const size_t plus = text.find("+ fused"); plus != std::string::npos) {
    text = text.substr(0, plus) + "activation:string= activation_alpha:double=0 activation_beta:double=0";
  } else if (const size_t fields = text.find("+ fields"); fields != std::string::npos) {
    text.resize(fields);
    specs.open = true;
  }
  for (const std::string& token : split(text, ' ')) {
    if (!token.empty()) {
      specs.list.push_back(parseSpec(token));
    }
  }
  return specs;
}

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

const AttributeSpec* AttributeSpecs::find(const std::string& name) const {
  for (const AttributeSpec& spec : list) {
    if (spec.name == name) {
      return &spec;
    }
  }
  return nullptr;
}

const AttributeSpecs& attributeSpecs(LayerType type) {
  static const auto* all = [] {
    auto* specs = new std::vector<AttributeSpecs>;
    for (const LayerInfo& info : layerTable()) {
      specs->push_back(parseSpecs(info.attributes));
    }
    return specs;
  }();
  return (*all)[static_cast<size_t>(type)];
}

const char* attributeTypeName(const AttributeValue& value) {
  return kTypeNames[value.index()];
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
