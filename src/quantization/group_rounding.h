// Rounds float weights to integers, a scale for each group.
#pragma once

#include <cstdint>
#include <span>

#include "torchtrt/network.h"

namespace torchtrt::quantization {

// A rounded matrix, as the operands of INTEGER_WEIGHT_MATRIX_MULTIPLY.
struct RoundedMatrix {
  network::Weights weights;
  network::Weights scale;
  network::Weights offset;  // without data where groups are symmetric
};

// `values` are the rows of a matrix of finite numbers, each `depth` long, which group_size divides. `bits` is 4 or 8,
// and group_size even.
//
// A symmetric group stands for q * scale. The weight of the largest magnitude becomes the least integer, which has no
// counterpart above zero, so a scale may be negative. With zero points a group stands for (q - z) * scale, and reaches
// from its least to its greatest weight, or to zero: z * scale is the negative offset, and zero is exact. A group of
// zeros, and one whose scale would be no normal float32, has a scale of zero.
RoundedMatrix roundByGroups(std::span<const float> values, int64_t depth, int64_t bits, int64_t group_size,
                            bool has_zero_points);

}  // namespace torchtrt::quantization
