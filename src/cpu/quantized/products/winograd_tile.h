// One tile of a 3x3 convolution of integers in the Winograd domain (Lavin and Gray, arXiv:1509.09308): the vector code
// that winograd.cpp calls. All of it is exact: fractions of the kernel's transform are taken out as factors, which
// output() divides by.
#pragma once

#include <array>
#include <cstdint>

#include "torchtrt/types.h"

namespace torchtrt::kernels::quantized {

// Tiles of 2x2 outputs, made of 16 products, or of 4x4, made of 36.
enum class SquareForm : uint8_t { kSmall, kLarge };

struct SquareSizes {
  int64_t tile;    // outputs in height and in width
  int64_t side;    // input pixels, and products, in height and in width
  int64_t factor;  // sums are made times this, in int32 that wrap: results times the power of two in it have to fit
  int64_t products() const {
    return side * side;
  }
};
SquareSizes sizesOf(SquareForm form);

inline constexpr int kMostProducts = 36;
inline constexpr int kMostOutputs = 16;
inline constexpr int64_t kWidestVector = 32;  // int16 values, on any machine

// The kernel's taps to its products, each an integer that int16 holds.
void transformKernel(SquareForm form, const int8_t* taps, int16_t* products, int64_t step);

struct SquareInput {
  std::array<const void*, kMostProducts> pixels;  // at channel 0, row by row; null where there is padding
  int64_t channels;                               // a multiple of kWidestVector
  int zero_point;
  int16_t* to;  // product i at to + i * step
  int64_t step;
};

struct SquareOutput {
  const int32_t* from;  // product i at from + i * step
  int64_t step;
  int64_t columns;                        // a multiple of the vector's lanes
  std::array<int32_t*, kMostOutputs> to;  // null outside of the image
};

struct SquareFunctions {
  void (*input)(const SquareInput& tile) = nullptr;
  void (*output)(const SquareOutput& tile) = nullptr;
};
SquareFunctions squareFunctions(SquareForm form, DType input);  // on this machine

}  // namespace torchtrt::kernels::quantized
