// Short texts of schedules for tests: what each call runs, and which fusion rules made it so.
#pragma once

#include <string>
#include <vector>

#include "engine/loading/model.h"
#include "engine/schedule/schedule.h"
#include "plan/plan.h"

namespace torchtrt::engine {

// "relu": the operation of a step, or its family.
inline std::string operationOf(const plan::Step& step) {
  for (const char* name : {"op", "mode"}) {
    if (const std::string operation = step.attributes.getString(name, ""); !operation.empty()) {
      return operation;
    }
  }
  return step.family;
}

// "reformat; sub + {prod + sum}; copy": actions in order, steps of one action joined by +, those that share registers
// in braces.
inline std::string actionsOf(const plan::Plan& plan, const Schedule& schedule) {
  std::string text;
  for (const Action& action : schedule.actions) {
    text += text.empty() ? "" : "; ";
    const std::vector<int32_t> steps = stepsOf(action);
    text += steps.empty() ? "copy" : "";
    const auto units = action.unit_sizes.empty() ? std::vector<uint32_t>(steps.size(), 1) : action.unit_sizes;
    size_t next = 0;
    for (const uint32_t size : units) {
      text += next == 0 ? "" : " + ";
      text += size > 1 ? "{" : "";
      for (uint32_t i = 0; i < size; ++i) {
        text += (i == 0 ? "" : " + ") + operationOf(plan.steps[static_cast<size_t>(steps[next++])]);
      }
      text += size > 1 ? "}" : "";
    }
  }
  return text;
}

// "average_output, scale_input": the rules of the actions that compute several steps, in order.
inline std::string rulesOf(const Schedule& schedule) {
  std::string text;
  for (const Action& action : schedule.actions) {
    if (action.rule != Rule::kNone) {
      text += (text.empty() ? "" : ", ") + std::string(nameOf(action.rule));
    }
  }
  return text;
}

}  // namespace torchtrt::engine
