#include "cuda/quantized/finish.h"

#include "cuda/launch/activation.h"
#include "cuda/launch/types.h"

namespace torchtrt::cuda {

namespace {

using kernels::ShapeSet;

bool makesSteps(const ShapeSet& shapes) {
  return shapes.outputs.at(0).dtype != DType::kFloat32;
}

}  // namespace

SumFinish finishOf(const Layer& layer, const ShapeSet& shapes) {
  const Attributes& attributes = layer.attributes;
  SumFinish finish = {{1, 0}, {1, 0, 0, 0}, 0, 0};
  if (layer.has(kResidual)) {
    finish.residual = Dequantizer::of(attributes, "residual_scale", "residual_zero_point");
  }
  if (makesSteps(shapes)) {
    finish.output = Quantizer::of(attributes, "output_scale", "output_zero_point");
  }
  finish.alpha = static_cast<float>(attributes.getDouble("activation_alpha", 0));
  finish.beta = static_cast<float>(attributes.getDouble("activation_beta", 0));
  return finish;
}

void addFinishText(Source& source, const Layer& layer, const ShapeSet& shapes, bool has_small_sums) {
  source.define("OUT", storedType(shapes.outputs.at(0).dtype));
  source.define("RESIDUAL", storedType(layer.has(kResidual) ? shapes.inputs[kResidual].dtype : DType::kInt8));
  source.define("HAS_BIAS", int64_t{layer.has(kBias)}).define("HAS_RESIDUAL", int64_t{layer.has(kResidual)});
  source.define("MAKES_STEPS", int64_t{makesSteps(shapes)}).define("HAS_SMALL_SUMS", int64_t{has_small_sums});
  const Quantizer output =
      makesSteps(shapes) ? Quantizer::of(layer.attributes, "output_scale", "output_zero_point") : Quantizer{1, 0, 0, 0};
  source.define("HAS_OUTPUT_ZERO_POINT", int64_t{output.zero_point != 0});
  // The least step does what ReLU does if nothing below zero has one.
  if (makesSteps(shapes) && output.low >= 0 && layer.attributes.getString("activation", "") == "relu") {
    source.define("ACTIVATION(x, alpha, beta)", "x");
  } else {
    defineFusedActivation(source, layer.attributes, DType::kFloat32);
  }
  source.include("text/storage.cuh").include("text/functions.cuh");
  source.include("quantized/steps.cuh").include("quantized/finish.cuh");
}

int32_t zeroPointOf(const Attributes& attributes) {
  return static_cast<int32_t>(attributes.getInt("zero_point", 0));
}

}  // namespace torchtrt::cuda
