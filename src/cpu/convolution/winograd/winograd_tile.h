// One tile of a 3x3 convolution in the Winograd domain: the vector code that winograd.cpp calls.
#pragma once

#include <array>
#include <cstdint>

#include "cpu/convolution/winograd/winograd_form.h"
#include "cpu/gemm/packed_gemm.h"

namespace torchtrt::kernels::convolution {

inline constexpr int kMostPatch = 36;    // input pixels of the largest tile, and as many products
inline constexpr int kMostOutputs = 16;  // its output pixels
inline constexpr int kMostKernelLines = 6;

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

// Plain kernels of one panel of outputs, some channels of them, brought to two lines of the products.
struct WinogradKernelLines {
  const float* from;  // [channels][kWinogradTaps][width]
  float* to;          // kernel x of the first line at to + x * step, those of the second behind: [channels][width]
  int64_t step;
  int64_t channels;
  int vectors;  // of a panel: width in vectors, up to 3
};

// Two lines of a form's kernels that share work.
struct WinogradLinePair {
  int first = 0;
  int second = 0;
  void (*transform)(const WinogradKernelLines& lines) = nullptr;
};

struct WinogradFunctions {
  int64_t lanes = 0;  // floats of a vector
  void (*input)(const WinogradInput& tile) = nullptr;
  // False when an infinity or NaN was met, or an output is small beside the rounding of what it was made of: then the
  // tile's values are not to be used.
  bool (*output)(const WinogradOutput& tile) = nullptr;
  std::array<WinogradLinePair, kMostKernelLines / 2> pairs;  // half as many as the form's kernels have lines
};
WinogradFunctions winogradFunctions(WinogradForm form);  // on this machine

}  // namespace torchtrt::kernels::convolution
