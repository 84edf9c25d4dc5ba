#include "builder/device_kernels.h"

#include <string_view>
#include <variant>

namespace torchtrt::builder {

namespace {

constexpr std::string_view kHost = "host";  // the last implementation of a family that runs on the host
constexpr std::string_view kPlugin = "plugin";

kernels::Operand operandOf(const network::Tensor* tensor) {
  kernels::Operand operand;
  if (tensor != nullptr) {
    operand.present = true;
    operand.dtype = tensor->getType();
    for (const Dim& dim : tensor->getDimensions()) {
      operand.dims.push_back(dim.asConstant().value_or(-1));
    }
    operand.opt_dims = operand.dims;
  }
  return operand;
}

}  // namespace

std::optional<Refusal> refusalOfDevice(const network::Layer& layer, const kernels::Backend& backend) {
  const kernels::Family* const family = kernels::findFamily(layer.info().name, backend);
  if (family == nullptr || family->implementations.back().name != kHost) {
    return std::nullopt;
  }
  Attributes attributes;  // symbolic ones come with shapes
  for (const auto& [name, value] : layer.attributes().values()) {
    if (!std::holds_alternative<Dims>(value)) {
      attributes.set(name, value);
    }
  }
  kernels::Problem problem;
  problem.family = family->name;
  problem.attributes = &attributes;
  for (int i = 0; i < layer.getNbInputs(); ++i) {
    problem.inputs.push_back(operandOf(layer.getInput(i)));
  }
  for (int i = 0; i < layer.getNbOutputs(); ++i) {
    problem.outputs.push_back(operandOf(layer.getOutput(i)));
  }
  // Those that take most come last, and need no library.
  std::optional<Refusal> refusal;
  for (auto each = family->implementations.rbegin() + 1; each != family->implementations.rend(); ++each) {
    const kernels::CreateResult result = each->create(problem);
    const auto* const refused = std::get_if<Refusal>(&result);
    if (refused == nullptr) {
      return std::nullopt;
    }
    if (!refusal || refusal->code == kPlugin) {
      refusal = *refused;
    }
  }
  return refusal.value_or(Refusal{"family", "has no device code"});
}

}  // namespace torchtrt::builder
