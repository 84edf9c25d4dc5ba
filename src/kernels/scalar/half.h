// Bit-exact conversion between float and the two 16-bit floating formats: round to nearest, ties to even, as PyTorch
// does. Storage formats only: arithmetic is done in float.
#pragma once

#include <bit>
#include <cstdint>

namespace torchtrt::kernels {

struct Float16 {
  uint16_t bits = 0;
};

struct BFloat16 {
  uint16_t bits = 0;
};

inline Float16 toFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t result;
  if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity; NaN becomes the quiet one
    result = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  } else if (magnitude < 0x38800000u) {  // below 2^-14: the sum with 0.5 is rounded at 2^-24, the subnormals' unit
    result = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    magnitude += 0xfffu + ((magnitude >> 13) & 1u);
    result = (magnitude - (112u << 23)) >> 13;  // the exponent bias drops from 127 to 15
  }
  return {static_cast<uint16_t>(sign | result)};
}

inline float toFloat(Float16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  const uint32_t magnitude = value.bits & 0x7fffu;
  uint32_t result;
  if (magnitude >= 0x7c00u) {
    result = 0x7f800000u | ((magnitude & 0x3ffu) << 13);
  } else if (magnitude < 0x400u) {
    result = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  } else {
    result = (magnitude << 13) + (112u << 23);
  }
  return std::bit_cast<float>(sign | result);
}

inline BFloat16 toBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return {0x7fc0u};
  }
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

inline float toFloat(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

}  // namespace torchtrt::kernels
