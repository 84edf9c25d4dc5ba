// One output row of a convolution to few outputs: the vector code that few_outputs.cpp calls.
#pragma once

#include <cstdint>

#include "cpu/convolution/direct/row.h"

namespace torchtrt::kernels::convolution {

inline constexpr int64_t kMostFewOutputs = 4;

struct FewOutputsFunctions {
  int64_t lanes = 0;  // floats of a vector; fewer than kMostFewOutputs where there are no rows
  // Computes 1 to kMostFewOutputs outputs. weights: [taps][vectors of channels][outputs][lanes], zeros behind the last
  // channel.
  void (*row[kMostFewOutputs])(const Row& row, int64_t channels, const float* weights) = {};
};
FewOutputsFunctions fewOutputsFunctions();  // on this machine

}  // namespace torchtrt::kernels::convolution
