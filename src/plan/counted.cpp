#include "plan/counted.h"

#include "plan/format.h"

namespace torchtrt::plan {

namespace {

void require(bool holds, const Step& step, const char* rule) {
  if (!holds) {
    throwCorrupt("step '" + step.name + "' (" + step.family + "): " + rule);
  }
}

}  // namespace

std::vector<int32_t> countsOfTensors(const Plan& plan) {
  std::vector<int32_t> counts(plan.tensors.size(), -1);
  for (const Step& step : plan.steps) {
    const AttributeValue* attribute = step.family == "plugin_v2" ? step.attributes.find("counted") : nullptr;
    if (attribute == nullptr) {
      continue;
    }
    const auto* counted = std::get_if<std::vector<int64_t>>(attribute);
    require(counted != nullptr, step, "the outputs that it counts are no list of numbers");
    const Tensor& number = plan.tensors[static_cast<size_t>(step.outputs.back())];
    require(number.dtype == DType::kInt64 && number.dims.empty(), step,
            "its last output counts and is no int64 number");
    for (const int64_t index : *counted) {
      require(index >= 0 && static_cast<size_t>(index) + 1 < step.outputs.size(), step,
              "it counts an output that it does not have");
      const auto output = static_cast<size_t>(step.outputs[static_cast<size_t>(index)]);
      require(!plan.tensors[output].dims.empty(), step, "it counts the rows of an output that has none");
      require(plan.tensors[output].order.empty(), step, "it counts the rows of an output that is not row-major");
      counts[output] = step.outputs.back();
    }
  }
  return counts;
}

}  // namespace torchtrt::plan
