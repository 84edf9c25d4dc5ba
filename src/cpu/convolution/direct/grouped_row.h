// One output row of a convolution in groups of four channels: the vector code that grouped.cpp calls.
#pragma once

#include <cstdint>

#include "cpu/convolution/direct/row.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kGroupChannels = 4;  // of the input and of the output: a block of 128 bits

// A vector of channels, of as many groups as fit.
struct GroupedBlock {
  int32_t channel;       // first channel
  int32_t valid;         // channels that exist, of a vector
  const float* weights;  // [taps][kGroupChannels inputs][lanes outputs]
};

struct GroupedFunctions {
  int64_t lanes = 0;  // floats of a vector; fewer than kGroupChannels where there is no row
  void (*row)(const Row& row, const GroupedBlock& block) = nullptr;
};
GroupedFunctions groupedFunctions();  // on this machine

}  // namespace torchtrt::kernels::convolution
