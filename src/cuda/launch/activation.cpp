#include "cuda/launch/activation.h"

#include "base/operations.h"

namespace torchtrt::cuda {

bool hasActivation(const std::string& name, DType dtype) {
  return name.empty() || (findOperation(activations(), name) != nullptr && (isFloating(dtype) || name == "relu"));
}

void defineActivation(Source& source, const std::string& name) {
  source.define("ACTIVATION(x, a, b)", "activation_" + (name.empty() ? std::string("none") : name) + "((x), (a), (b))");
}

std::optional<Refusal> refuseFusedActivation(const Attributes& attributes, DType dtype) {
  const std::string name = attributes.getString("activation", "");
  if (name.empty() || (isFloating(dtype) && hasActivation(name, dtype))) {
    return std::nullopt;
  }
  return Refusal{"activation", "has no device code for '" + name + "' of " + toString(dtype)};
}

void defineFusedActivation(Source& source, const Attributes& attributes) {
  defineActivation(source, attributes.getString("activation", ""));
}

Arguments& addFusedActivation(Arguments& arguments, const Attributes& attributes) {
  return arguments.value(attributes.getDouble("activation_alpha", 0)).value(attributes.getDouble("activation_beta", 0));
}

}  // namespace torchtrt::cuda
