// The operands of integer_weight_matrix_multiply; the first is the matrix that is multiplied.
#pragma once

#include <cstddef>

namespace torchtrt::kernels::quantized {

inline constexpr size_t kWeights = 1;
inline constexpr size_t kWeightScale = 2;
inline constexpr size_t kWeightOffset = 3;  // may be absent, as may those behind it
inline constexpr size_t kWeightBias = 4;
inline constexpr size_t kWeightResidual = 5;

}  // namespace torchtrt::kernels::quantized
