// One output row of a convolution to few outputs: the vector code that narrow.cpp calls.
#pragma once

#include <cstdint>

#include "cpu/convolution/direct/row.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kMostNarrowOutputs = 4;

struct NarrowFunctions {
  int64_t lanes = 0;  // floats of a vector; fewer than kMostNarrowOutputs where there are no rows
  // For 1 to kMostNarrowOutputs outputs. weights: [taps][vectors of channels][outputs][lanes], zeros behind the last
  // channel.
  void (*row[kMostNarrowOutputs])(const Row& row, int64_t channels, const float* weights) = {};
};
NarrowFunctions narrowFunctions();  // on this machine

}  // namespace torchtrt::kernels::convolution
