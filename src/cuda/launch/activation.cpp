#include "cuda/launch/activation.h"

#include "base/operations.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

bool hasActivation(const std::string& name, DType dtype) {
  const Operation* const operation = findOperation(activations(), name);
  return name.empty() || (operation != nullptr && operation->takes(dtype));
}

std::string activationFunction(const std::string& name, DType dtype) {
  if (name == "gelu_erf" && (dtype == DType::kFloat16 || dtype == DType::kBFloat16)) {
    return dtype == DType::kFloat16 ? "half_gelu_erf" : "short_gelu_erf";
  }
  return "activation_" + (name.empty() ? std::string("none") : name);
}

void defineActivation(Source& source, const std::string& name, DType dtype) {
  const std::string value = isFloating(dtype) ? "(x)" : "wrapped<" + std::string(storedType(dtype)) + ">(x)";
  source.define("ACTIVATION(x, a, b)", activationFunction(name, dtype) + "(" + value + ", (a), (b))");
}

std::optional<Refusal> refuseFusedActivation(const Attributes& attributes, DType dtype) {
  const std::string name = attributes.getString("activation", "");
  if (hasActivation(name, dtype)) {
    return std::nullopt;
  }
  return Refusal{"activation", "has no device code for '" + name + "' of " + toString(dtype)};
}

void defineFusedActivation(Source& source, const Attributes& attributes, DType dtype) {
  defineActivation(source, attributes.getString("activation", ""), dtype);
}

Arguments& addFusedActivation(Arguments& arguments, const Attributes& attributes) {
  return arguments.value(attributes.getDouble("activation_alpha", 0)).value(attributes.getDouble("activation_beta", 0));
}

}  // namespace torchtrt::cuda
