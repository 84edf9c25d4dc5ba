// Chooses a memory order for every tensor and inserts REFORMAT layers where two orders meet. By rule: where
// the network convolves, spatial layers run channels last (but convolutions with few outputs stay row-major), what lies
// between them follows, everything else is row-major, and so are inputs and outputs. Private to this folder.
#pragma once

#include "torchtrt/network.h"

namespace torchtrt::builder {

// Sets Tensor::memoryOrder throughout.
void chooseMemoryOrders(network::Network& network);

}  // namespace torchtrt::builder
