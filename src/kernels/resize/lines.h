// Interpolation along the width and then along the height, a line at a time: what highway.cpp has for each instruction
// set.
#pragma once

#include <array>
#include <cstdint>

namespace torchtrt::kernels::resize {

// What the columns of an output line read of an input line: the same for all lines.
struct Columns {
  int64_t count = 0;  // of the output
  int64_t pairs = 0;  // of these, the first whose two taps are neighbours, of a row-major image
  int64_t step = 0;   // between the taps of the arrays below
  // [taps][step]; offsets in floats. Weights count where there are several taps.
  const int32_t* offsets = nullptr;
  const float* weights = nullptr;
  int64_t channels = 1;  // floats that lie together and share their weights
};

// An output line from the lines that are interpolated already.
struct Rows {
  std::array<const float*, 4> lines;
  std::array<float, 4> weights;
};

struct LineFunctions {
  void (*along_width)(const Columns& columns, const float* in, float* out) = nullptr;
  void (*along_height)(const Rows& rows, int64_t floats, float* out) = nullptr;
};

// For 1, 2 or 4 taps; with one, along_height is null.
LineFunctions lineFunctions(int taps, bool channels_last);

}  // namespace torchtrt::kernels::resize
