// Layers of integers in the place of float layers.
#pragma once

#include "torchtrt/network.h"

namespace torchtrt::quantization {

// Adds a constant in front of a layer, under the name of the layer's output with that suffix.
network::Tensor* addConstantFor(network::Network& network, const network::Weights& weights, network::Layer& layer,
                                const char* suffix);
// Gives the uses, names and location of a layer to the one made for it. Removes the layer, and its constant weights if
// nobody else reads them.
void takePlace(network::Network& network, network::Layer& old, network::Layer& made);

}  // namespace torchtrt::quantization
