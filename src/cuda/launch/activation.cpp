#include "cuda/launch/activation.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace torchtrt::cuda {

bool hasActivation(const std::string& name, DType dtype) {
  static constexpr std::string_view kNames[] = {
      "",     "relu",        "sigmoid",          "tanh",        "clip",        "leaky_relu",   "elu",        "selu",
      "celu", "gelu_erf",    "gelu_tanh",        "silu",        "hard_swish",  "hard_sigmoid", "softplus",   "softsign",
      "mish", "log_sigmoid", "thresholded_relu", "scaled_tanh", "hard_shrink", "soft_shrink",  "tanh_shrink"};
  const bool is_known = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  return is_known && (isFloating(dtype) || name.empty() || name == "relu");
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
