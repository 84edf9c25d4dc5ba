#include "plan/families.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/check.h"
#include "plan/format.h"

namespace torchtrt::plan {

namespace {

// "+ fused" in the table.
constexpr const char* kFused = "activation:string= activation_alpha:double=0 activation_beta:double=0";

AttributeValue parseValue(const std::string& type, const std::string& text) {
  if (type == "bool") {
    return text == "1";
  }
  if (type == "int") {
    return static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10));
  }
  if (type == "double") {
    return std::strtod(text.c_str(), nullptr);
  }
  if (type == "string") {
    return text == "\"\"" ? std::string() : text;
  }
  if (type == "dtype") {
    return DType::kFloat32;
  }
  if (type == "ints") {
    return std::vector<int64_t>();
  }
  if (type == "doubles") {
    return std::vector<double>();
  }
  TORCHTRT_CHECK(type == "dims", "the layer table has an attribute of type '" << type << "'");
  return Dims();
}

// "name:type", "name:type(one|other)", each with "=default" or "?" behind it.
AttributeSpec parseAttribute(const std::string& token) {
  AttributeSpec spec;
  const size_t colon = token.find(':');
  TORCHTRT_CHECK(colon != std::string::npos, "the layer table has a malformed attribute '" << token << "'");
  spec.name = token.substr(0, colon);
  std::string type = token.substr(colon + 1);
  if (const size_t equals = type.find('='); equals != std::string::npos) {
    spec.has_default = true;
    spec.required = false;
    const std::string text = type.substr(equals + 1);
    type.resize(equals);
    type.resize(std::min(type.size(), type.find('(')));
    spec.value_if_missing = parseValue(type, text);
  }
  if (!type.empty() && type.back() == '?') {
    spec.required = false;
    type.pop_back();
  }
  type.resize(std::min(type.size(), type.find('(')));
  spec.type = parseValue(type, "0");
  return spec;
}

FamilySpec parseFamily(const char* name, int min_operands, int max_operands, int outputs,
                       const std::string& attributes) {
  FamilySpec spec{name, min_operands, max_operands, outputs, {}, false};
  std::string text = attributes;
  if (const size_t plus = text.find('+'); plus != std::string::npos) {
    spec.open = text.find("fields of the plugin", plus) != std::string::npos;
    text = text.substr(0, plus) + (spec.open ? "" : kFused);
  }
  std::istringstream tokens(text);
  for (std::string token; tokens >> token;) {
    spec.attributes.push_back(parseAttribute(token));
  }
  return spec;
}

using Table = std::map<std::string, FamilySpec, std::less<>>;

Table makeTable() {
  Table table;
#define LAYER(ENUM, NAME, MIN, MAX, OUTPUTS, ATTRIBUTES, MEANING) \
  table.emplace(NAME, parseFamily(NAME, MIN, MAX, OUTPUTS, ATTRIBUTES));
#include "torchtrt/layer_table.def"
#undef LAYER
  table.erase("constant");  // data, never a step
  return table;
}

bool hasDims(const Step& step, const std::string& name) {
  return std::any_of(step.dims.begin(), step.dims.end(), [&](const auto& entry) { return entry.first == name; });
}

[[noreturn]] void throwUnknown(const Step& step, const std::string& what) {
  throw EngineError(ErrorCode::kPlanVersion, "step '" + step.name + "' " + what + ", which this library does not know",
                    step.location, "load it with the torchtrt that made it, or compile again");
}

void checkAttribute(const Step& step, const AttributeSpec& spec) {
  const bool symbolic = std::holds_alternative<Dims>(spec.type);
  const AttributeValue* value = step.attributes.find(spec.name);
  if (symbolic ? !hasDims(step, spec.name) : value == nullptr) {
    if (spec.required || (spec.has_default && !symbolic)) {
      throwCorrupt("step '" + step.name + "' (" + step.family + ") has no attribute '" + spec.name + "'");
    }
    return;
  }
  if (!symbolic && value->index() != spec.type.index()) {
    throwCorrupt("attribute '" + spec.name + "' of step '" + step.name + "' (" + step.family + ") has the wrong type");
  }
}

}  // namespace

const FamilySpec* findFamilySpec(std::string_view name) {
  static const Table table = makeTable();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

void fillDefaults(Plan& plan) {
  for (Step& step : plan.steps) {
    const FamilySpec* family = findFamilySpec(step.family);
    if (family == nullptr) {
      continue;
    }
    for (const AttributeSpec& spec : family->attributes) {
      if (spec.has_default && !step.attributes.has(spec.name) && !std::holds_alternative<Dims>(spec.type)) {
        step.attributes.set(spec.name, spec.value_if_missing);
      }
    }
  }
}

void checkAgainstTable(const Step& step) {
  const FamilySpec* family = findFamilySpec(step.family);
  if (family == nullptr) {
    throwUnknown(step, "is of family '" + step.family + "'");
  }
  const auto operands = static_cast<int>(step.inputs.size());
  const auto outputs = static_cast<int>(step.outputs.size());
  if (operands < family->min_operands || (family->max_operands >= 0 && operands > family->max_operands)) {
    throwCorrupt("step '" + step.name + "' (" + step.family + ") has " + std::to_string(operands) + " operands");
  }
  if (outputs == 0 || (family->outputs >= 0 && outputs != family->outputs)) {
    throwCorrupt("step '" + step.name + "' (" + step.family + ") has " + std::to_string(outputs) + " outputs");
  }
  for (const AttributeSpec& spec : family->attributes) {
    checkAttribute(step, spec);
  }
  const auto known = [&](const std::string& name) {
    return family->open || std::any_of(family->attributes.begin(), family->attributes.end(),
                                       [&](const AttributeSpec& spec) { return spec.name == name; });
  };
  for (const auto& [name, value] : step.attributes.values()) {
    if (!known(name)) {
      throwUnknown(step, "(" + step.family + ") has an attribute '" + name + "'");
    }
  }
  for (const auto& [name, registers] : step.dims) {
    if (!known(name)) {
      throwUnknown(step, "(" + step.family + ") has an attribute '" + name + "'");
    }
  }
}

}  // namespace torchtrt::plan
