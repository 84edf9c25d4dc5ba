// The scale of a convolution of 16 bits: one float32 for each output, which a batch normalization became.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::kernels {

inline constexpr int kScale = 4;  // its operand

inline bool hasScale(const Problem& problem) {
  return problem.family == "convolution" && problem.inputs.size() > kScale && problem.inputs[kScale].present;
}

}  // namespace torchtrt::kernels
