#include "base/layer_spec.h"

#include <array>
#include <sstream>

#include "base/check.h"

namespace torchtrt {
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

}  // namespace

AttributeSpecs parseAttributeSpecs(const std::string& notation) {
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

const AttributeSpec* AttributeSpecs::find(const std::string& name) const {
  for (const AttributeSpec& spec : list) {
    if (spec.name == name) {
      return &spec;
    }
  }
  return nullptr;
}

const char* attributeTypeName(const AttributeValue& value) {
  return kTypeNames[value.index()];
}

}  // namespace torchtrt
