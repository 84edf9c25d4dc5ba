// Kinds whose outputs come from data, attributes or a plugin.
#include "network/inference/inference.h"
#include "torchtrt/plugin.h"

namespace torchtrt::network {

TensorTypes inferConstant(const LayerContext& context) {
  const Weights* weights = context.layer().weights();
  return {{weights->dtype, Dims::of(weights->dims)}};
}

TensorTypes inferFill(const LayerContext& context) {
  return {{context.attributes().getDType("dtype"), context.attributes().getDims("dims")}};
}

TensorTypes inferPlugin(const LayerContext& context) {
  TensorTypes inputs;
  for (int i = 0; i < context.operands(); ++i) {
    inputs.push_back({context.dtype(i), context.dims(i)});
  }
  return plugin::PluginRegistry::global().create(context.attributes())->inferOutputs(inputs);
}

}  // namespace torchtrt::network
