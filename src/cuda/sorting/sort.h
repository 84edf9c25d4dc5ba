// Sorting rows of items in scratch memory (sorting.cuh), for layers and plugins that need an order.
#pragma once

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

constexpr int64_t kItemBytes = 16;
constexpr int64_t kMostTile = 1024;

// The items that a row of `length` is padded to: a power of two.
int64_t paddedLength(int64_t length);
// Sorts `rows` rows of `padded` items each, which lie from `scratch` on. Padding has the greatest key.
void addSort(Launches& launches, int64_t rows, int64_t padded, int64_t scratch);

}  // namespace torchtrt::cuda
