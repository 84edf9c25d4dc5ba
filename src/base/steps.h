// Rules for quantized values, for networks and plans alike. A quantized tensor holds int8 or uint8, and stands for
// (step - zero_point) * scale.
#pragma once

#include <cstdint>
#include <limits>

#include "torchtrt/types.h"

namespace torchtrt {

inline bool isSteps(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8;
}

// True if `dtype`, int8 or uint8, holds the number.
inline bool isStepOf(DType dtype, int64_t number) {
  return dtype == DType::kInt8 ? number >= -128 && number <= 127 : number >= 0 && number <= 255;
}

// A scale is a normal float32 above zero: then its reciprocal is finite.
inline bool isStepScale(double scale) {
  return scale >= std::numeric_limits<float>::min() && scale <= std::numeric_limits<float>::max();  // NaN is not
}

// Products of a step, less its zero point, and an int8 that an int32 can sum whatever they are.
inline constexpr int64_t kMostStepProducts = std::numeric_limits<int32_t>::max() / (255 * 128);

}  // namespace torchtrt
