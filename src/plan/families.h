// Gives a plan's reader the layer table (include/torchtrt/layer_table.def): which families there are, how many operands
// they take, which attributes of which type. rules.h checks the values of attributes and the shapes.
#pragma once

#include <string>
#include <string_view>

#include "base/layer_spec.h"
#include "plan/plan.h"

namespace torchtrt::plan {

struct FamilySpec {
  std::string name;
  int min_operands = 0, max_operands = 0, outputs = 0;  // -1: any
  AttributeSpecs attributes;
};

const FamilySpec* findFamilySpec(std::string_view name);  // null when there is no such family
// Attributes added in a later minor version are missing in older plans: they get their defaults.
void fillDefaults(Plan& plan);
// Operand counts and attributes of a step are as the table says; throws EngineError (kPlanCorrupt, kPlanVersion).
void checkAgainstTable(const Step& step);
// Throws EngineError (kPlanVersion) with the message "step 'x' `what`, which this library does not know".
[[noreturn]] void throwUnknown(const Step& step, const std::string& what);

}  // namespace torchtrt::plan
