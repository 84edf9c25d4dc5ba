// The structs of steps.cuh, from attributes of layers.
#pragma once

#include <cstdint>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

struct Quantizer {
  float inverse_scale, low, high;
  int32_t zero_point;

  static Quantizer of(const Attributes& attributes, const char* scale, const char* zero_point) {
    const int64_t zero = attributes.getInt(zero_point);
    return {1.0F / static_cast<float>(attributes.getDouble(scale)), static_cast<float>(attributes.getInt("low") - zero),
            static_cast<float>(attributes.getInt("high") - zero), static_cast<int32_t>(zero)};
  }
};

struct Dequantizer {
  float scale;
  int32_t zero_point;

  static Dequantizer of(const Attributes& attributes, const char* scale, const char* zero_point) {
    return {static_cast<float>(attributes.getDouble(scale)), static_cast<int32_t>(attributes.getInt(zero_point))};
  }
};

}  // namespace torchtrt::cuda
