#include "quantization/replacement.h"

#include <string>

namespace torchtrt::quantization {

using network::Layer;
using network::Network;
using network::Tensor;
using network::Weights;

Tensor* addConstantFor(Network& network, const Weights& weights, Layer& layer, const char* suffix) {
  Layer* made = network.addConstant(weights, &layer);
  const std::string name = layer.getOutput(0)->getName() + suffix;
  made->setName(name);
  made->getOutput(0)->setName(name);
  return made->getOutput(0);
}

void takePlace(Network& network, Layer& old, Layer& made) {
  const std::string layer_name = old.getName();
  const std::string tensor_name = old.getOutput(0)->getName();
  made.setLocation(old.location());
  network.replaceAllUses(*old.getOutput(0), *made.getOutput(0));
  Layer* weights = old.getInput(1)->producer();
  network.removeLayer(old);
  if (weights->getOutput(0)->uses().empty() && !weights->getOutput(0)->isNetworkOutput()) {
    network.removeLayer(*weights);
  }
  made.setName(layer_name);
  made.getOutput(0)->setName(tensor_name);
}

}  // namespace torchtrt::quantization
