// A window of a convolution is read as runs: pieces that lie next to each other in memory. implicit_gemm.h multiplies
// them with the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/convolution/geometry.h"

namespace torchtrt::kernels::convolution {

// The way to read the input. A run lies in one piece in memory and is multiplied with consecutive rows of B.
enum class Reading {
  kChannels,     // a run is the channels of one pixel; taps are depth x height x width
  kChannelRows,  // channels-last and few channels: a run is kernel width x channels; taps are depth x height
  kPlanes,       // row-major: a run is the kernel's width; taps are channels x depth x height
};

inline constexpr int64_t kFewChannels = 16;  // up to here a row of taps is read as one run

struct Runs {
  Reading reading = Reading::kChannels;
  int64_t taps = 0;  // of a window
  int64_t run = 0;   // elements of each
};
Runs runsOf(const Geometry& geometry, const Operand& input);

// A run of a window.
struct Tap {
  Spatial at;      // offset from the window's start
  int64_t offset;  // the same in elements
};
std::vector<Tap> tapsOf(const Geometry& geometry, Reading reading, const Image& input);
// Returns the begin of an output pixel's window, in elements; with padding it may lie outside of the image.
int64_t offsetOfWindow(const Geometry& geometry, const Image& input, const Pixel& pixel);

}  // namespace torchtrt::kernels::convolution
