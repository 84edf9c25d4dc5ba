// One line of pooling windows over a channels-last image: what the vector code of highway.cpp works on.
#pragma once

#include <array>
#include <cstdint>

namespace torchtrt::kernels::pooling {

// The windows of one output pixel along an axis: `count` positions from `first`, `step` apart; `padded` is its length
// with padding.
struct Span {
  int64_t first = 0;
  int64_t count = 1;
  int64_t step = 1;
  int64_t padded = 1;
};

// How an average is divided.
enum class Divisor : uint8_t { kElements, kPadded, kFixed };

// Neighbouring output pixels whose windows share their positions along depth and height.
struct Line {
  const float* in;                // the first position of the shared axes, column 0, first of `channels` channels
  float* out;                     // the first output pixel, same channel
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

using LineFunction = void (*)(const Line& line);

}  // namespace torchtrt::kernels::pooling
