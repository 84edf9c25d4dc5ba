// Interpolation along the width and then along the height, a line at a time: what interpolated_lines.cpp has for each
// instruction set.
#pragma once

#include <array>
#include <cstdint>

namespace torchtrt::kernels::resize {

// The elements of an input line that the columns of an output line read: the same for all lines.
template <typename T>
struct Columns {
  int64_t count = 0;  // of the output
  int64_t pairs = 0;  // of these, the first whose two taps are neighbours, of a row-major image
  int64_t step = 0;   // between the taps of the arrays below
  // [taps][step]; offsets in elements. Weights count where there are several taps.
  const int32_t* offsets = nullptr;
  const T* weights = nullptr;
  int64_t channels = 1;  // elements that lie together and share their weights
};

// An output line from the lines that are interpolated already.
template <typename T>
struct Rows {
  std::array<const T*, 4> lines;
  std::array<T, 4> weights;
};

template <typename T>
struct LineFunctions {
  void (*along_width)(const Columns<T>& columns, const T* in, T* out) = nullptr;
  void (*along_height)(const Rows<T>& rows, int64_t elements, T* out) = nullptr;
};

// Computes 1, 2 or 4 taps of float or double; with one, along_height is null.
template <typename T>
LineFunctions<T> lineFunctions(int taps, bool channels_last);

template <>
LineFunctions<float> lineFunctions<float>(int taps, bool channels_last);
template <>
LineFunctions<double> lineFunctions<double>(int taps, bool channels_last);

}  // namespace torchtrt::kernels::resize
