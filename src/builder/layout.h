// Chooses a memory order for every tensor and inserts REFORMAT layers where two orders meet. By rule: where
// the network convolves, spatial layers run channels last (but convolutions with few outputs stay row-major), what lies
// between them follows, everything else is row-major, and so are outputs. Inputs are row-major to the plan; those that
// the network says come in another order are reordered first, which costs nothing where they do. Private to this
// folder.
#pragma once

#include <vector>

#include "builder/memory_order.h"
#include "torchtrt/network.h"

namespace torchtrt::builder {

// Returns the order in which each input comes. The inputs are row-major from then on.
std::vector<Order> takeInputOrders(network::Network& network);
// Sets Tensor::memoryOrder throughout.
void chooseMemoryOrders(network::Network& network, const std::vector<Order>& input_orders);

}  // namespace torchtrt::builder
