// Chooses a memory order for every tensor and inserts REFORMAT layers where two orders meet. By rule: spatial layers
// run channels last where the network convolves, what lies between them follows, everything else is row-major, and so
// are inputs and outputs. Private to this folder.
#pragma once

#include "torchtrt/network.h"

namespace torchtrt::builder {

// Sets Tensor::memoryOrder throughout.
void chooseMemoryOrders(network::Network& network);

}  // namespace torchtrt::builder
