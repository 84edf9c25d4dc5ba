#include "plan/families.h"

#include <algorithm>
#include <map>

#include "plan/format.h"

namespace torchtrt::plan {

namespace {

FamilySpec makeFamily(const char* name, int min_operands, int max_operands, int outputs, const char* attributes) {
  return {name, min_operands, max_operands, outputs, parseAttributeSpecs(attributes)};
}

using Table = std::map<std::string, FamilySpec, std::less<>>;

Table makeTable() {
  Table table;
#define LAYER(ENUM, NAME, MIN, MAX, OUTPUTS, ATTRIBUTES, MEANING) \
  table.emplace(NAME, makeFamily(NAME, MIN, MAX, OUTPUTS, ATTRIBUTES));
#include "torchtrt/layer_table.def"
#undef LAYER
  table.erase("constant");  // data, never a step
  return table;
}

bool hasDims(const Step& step, const std::string& name) {
  return std::any_of(step.dims.begin(), step.dims.end(), [&](const auto& entry) { return entry.first == name; });
}

// Returns the name that messages give an attribute of words.
std::string wordsName(const std::string& attribute) {
  return attribute == "op"       ? "operation"
         : attribute == "reduce" ? "reduction"
         : attribute == "ties"   ? "order of equals"
                                 : attribute;
}

void checkAttribute(const Step& step, const AttributeSpec& spec) {
  const bool symbolic = spec.type == "dims";
  const AttributeValue* value = step.attributes.find(spec.name);
  if (symbolic ? !hasDims(step, spec.name) : value == nullptr) {
    if (!spec.optional) {
      throwCorrupt("step '" + step.name + "' (" + step.family + ") has no attribute '" + spec.name + "'");
    }
    return;
  }
  if (!symbolic && attributeTypeName(*value) != spec.type) {
    throwCorrupt("attribute '" + spec.name + "' of step '" + step.name + "' (" + step.family + ") has the wrong type");
  }
  if (!spec.choices.empty()) {
    const std::string& word = std::get<std::string>(*value);
    if (std::find(spec.choices.begin(), spec.choices.end(), word) == spec.choices.end()) {
      throwUnknown(step, "(" + step.family + ") has the " + wordsName(spec.name) + " '" + word + "'");
    }
  }
}

}  // namespace

void throwUnknown(const Step& step, const std::string& what) {
  throw EngineError(ErrorCode::kPlanVersion, "step '" + step.name + "' " + what + ", which this library does not know",
                    step.location, "load it with the torchtrt that made it, or compile again");
}

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
    for (const AttributeSpec& spec : family->attributes.list) {
      if (spec.fallback && !step.attributes.has(spec.name)) {
        step.attributes.set(spec.name, *spec.fallback);
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
  for (const AttributeSpec& spec : family->attributes.list) {
    checkAttribute(step, spec);
  }
  const auto known = [&](const std::string& name) {
    return family->attributes.open || family->attributes.find(name) != nullptr;
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
