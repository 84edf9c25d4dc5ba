// Steps of int8 or uint8 and what computes on them.
#include "network/inference/inference.h"

namespace torchtrt::network {

TensorTypes inferQuantize(const LayerContext& context) {
  return {{context.attributes().getDType("to"), context.dims(0)}};
}

TensorTypes inferDequantize(const LayerContext& context) {
  return {{DType::kFloat32, context.dims(0)}};
}

TensorTypes inferQuantizedConvolution(const LayerContext& context) {
  return {{context.attributes().getDType("to"), inferConvolution(context)[0].dims}};
}

TensorTypes inferQuantizedMatrixMultiply(const LayerContext& context) {
  std::vector<Dim> dims = context.dims(0).vec();
  dims.back() = context.dims(1)[1];
  return {{context.attributes().getDType("to"), Dims(std::move(dims))}};
}

}  // namespace torchtrt::network
