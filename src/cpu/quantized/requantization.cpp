#include "cpu/quantized/requantization.h"

namespace torchtrt::kernels::quantized {
namespace {

Quantizer quantizer(const Attributes& attributes, const char* scale, const char* zero_point) {
  return {1.0F / static_cast<float>(attributes.getDouble(scale)), static_cast<float>(attributes.getInt(zero_point)),
          static_cast<float>(attributes.getInt("low")), static_cast<float>(attributes.getInt("high"))};
}

Dequantizer dequantizer(const Attributes& attributes, const char* scale, const char* zero_point) {
  return {static_cast<float>(attributes.getDouble(scale)), static_cast<int32_t>(attributes.getInt(zero_point))};
}

}  // namespace

Dequantizer dequantizerOf(const Attributes& attributes) {
  return dequantizer(attributes, "scale", "zero_point");
}

Quantizer quantizerOf(const Attributes& attributes) {
  return quantizer(attributes, "scale", "zero_point");
}

Requantization requantizationOf(const Problem& problem) {
  const auto present = [&](size_t i) { return i < problem.inputs.size() && problem.inputs[i].present; };
  const Attributes& attributes = *problem.attributes;
  Requantization result;
  result.has_bias = present(kBias);
  result.has_residual = present(kResidual);
  if (result.has_residual) {
    result.residual_dtype = problem.inputs[kResidual].dtype;
    result.residual = dequantizer(attributes, "residual_scale", "residual_zero_point");
  }
  result.activation = fusedActivation(attributes);
  result.to = problem.outputs.at(0).dtype;
  if (result.makesSteps()) {
    result.output = quantizer(attributes, "output_scale", "output_zero_point");
  }
  return result;
}

}  // namespace torchtrt::kernels::quantized
