// One line of pooling windows over a channels-last image: what the vector code of channels_last.cpp and
// bytes.cpp works on.
#pragma once

#include <array>
#include <cstdint>

#include "cpu/pooling/windows.h"

namespace torchtrt::kernels::pooling {

// Neighbouring output pixels whose windows share their positions along depth and height.
template <typename T>
struct LineOf {
  const T* in;                    // the first position of the shared axes, column 0, first of `channels` channels
  T* out;                         // the first output pixel, same channel
  std::array<int64_t, 2> count;   // positions along depth and height
  std::array<int64_t, 2> stride;  // elements from one position to the next
  int64_t width;                  // columns of the input
  int64_t column_stride;          // elements, of the input
  int64_t out_stride;             // elements from pixel to pixel
  const Span* spans;              // one per pixel
  int64_t pixels;
  int64_t channels;
  Divisor divisor;
  int64_t area;  // for kFixed the divisor, else the window's size along depth and height as `divisor` counts it
};

template <typename T>
using LineFunction = void (*)(const LineOf<T>& line);

}  // namespace torchtrt::kernels::pooling
