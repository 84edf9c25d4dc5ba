// The structs of steps.cuh, from attributes of layers.
#pragma once

#include <cstdint>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

struct Quantizer {
  float inverse_scale, zero_point, low, high;

  static Quantizer of(const Attributes& attributes, const char* scale, const char* zero_point) {
    return {1.0F / static_cast<float>(attributes.getDouble(scale)), static_cast<float>(attributes.getInt(zero_point)),
            static_cast<float>(attributes.getInt("low")), static_cast<float>(attributes.getInt("high"))};
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
