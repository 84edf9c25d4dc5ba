// Questions about memory orders (see Tensor::memoryOrder): which are the same memory, and what a transposition makes of
// one. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "torchtrt/network.h"

namespace torchtrt::builder {

using Order = std::vector<uint8_t>;

Order channelsLast(int rank);                       // [0, 2, 3, .., 1]
Order explicitOrder(const Order& order, int rank);  // row-major spelled out
Order simplified(const Order& order);               // row-major as empty
// Dimensions of size 1 lie anywhere: [N, C, 1, 1] is the same memory in both orders.
bool sameMemory(const Dims& dims, const Order& a, const Order& b);
// The order of the transposed tensor that leaves the elements where they are. Output axis i is input axis
// permutation[i]; an empty permutation is the identity.
Order transposedOrder(const Order& order, const std::vector<int64_t>& permutation);

// A SHUFFLE layer: transposition, reshape, transposition.
struct Shuffle {
  std::vector<int64_t> first;
  Dims middle;  // after the reshape
  std::vector<int64_t> second;
};
Shuffle shuffleOf(const network::Layer& layer);
Shuffle inverse(const Dims& input, const Shuffle& shuffle);
// The order of the result that leaves the elements of an input in `order` where they are; nothing if there is none.
std::optional<Order> shuffledOrder(const Dims& input, const Order& order, const Shuffle& shuffle);

}  // namespace torchtrt::builder
