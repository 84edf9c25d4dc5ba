// One tile of a 3x3 convolution in the Winograd domain: the vector code that winograd.cpp calls.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/convolution/winograd_form.h"
#include "kernels/gemm/packed_gemm.h"

namespace torchtrt::kernels::convolution {

inline constexpr int kMostPatch = 36;    // input pixels of the largest tile, and as many products
inline constexpr int kMostOutputs = 16;  // its output pixels

struct WinogradInput {
  std::array<const float*, kMostPatch> pixels;  // row by row, each at channel 0; zeros where there is padding
  float* to;                                    // transformed patch: value i at to + i * step
  int64_t step;
  int64_t channels;  // a multiple of every vector's length
};

struct WinogradOutput {
  const float* from;  // product i at from + i * step
  int64_t step;
  std::array<float*, kMostOutputs> out;             // null outside of the image
  std::array<const float*, kMostOutputs> residual;  // null where there is none
  const float* bias;                                // null or one per column
  int64_t columns;                                  // a multiple of every vector's length
  const gemm::Epilogue* epilogue;
};

// Output pixels by their definition.
inline constexpr int kMostWindows = 4;

struct WinogradPlain {
  std::array<const float*, kMostWindows> windows;   // `length` floats each, in the order of the weights
  std::array<float*, kMostWindows> out;             // null where there is no pixel
  std::array<const float*, kMostWindows> residual;  // null where there is none
  const float* weights;                             // [columns, length]
  const float* bias;                                // null or one per column
  int64_t length;                                   // a multiple of every vector's length
  int64_t columns;
};

struct WinogradFunctions {
  int64_t lanes = 0;  // floats of a vector
  void (*input)(const WinogradInput& tile) = nullptr;
  // False when an infinity or NaN was met, or an output is small beside the rounding of what it was made of: then the
  // tile's values are not to be used.
  bool (*output)(const WinogradOutput& tile) = nullptr;
  void (*plain)(const WinogradPlain& plain) = nullptr;
  // The epilogue alone, over `count` values; count is a multiple of every vector's length.
  void (*finish)(const gemm::Epilogue& epilogue, float* values, int64_t count) = nullptr;
};
WinogradFunctions winogradFunctions(WinogradForm form);  // on this machine

}  // namespace torchtrt::kernels::convolution
