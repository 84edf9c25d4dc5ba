// Neighbouring lines of pooling windows over one channel of a row-major image: what the vector code of planes.cpp works
// on.
#pragma once

#include "cpu/pooling/windows.h"

namespace torchtrt::kernels::pooling {

template <typename T>
struct PlaneOf {
  const T* in;  // the first position along depth, line 0
  T* out;       // line 0
  Span depth;
  int64_t depth_stride;  // elements from one position to the next
  int64_t line_stride;   // elements, of the input
  int64_t out_line_stride;
  const Span* lines;  // one per output line, of which [begin, end) are wanted
  int64_t begin;
  int64_t end;
  const Span* columns;  // one per pixel of an output line
  int64_t pixels;
  int64_t width;          // columns of the input
  int64_t regular_begin;  // pixels [begin, end) have whole windows, which lie `stride` columns apart;
  int64_t regular_end;
  Span regular;  // the first of them
  int64_t stride;
  Divisor divisor;
  int64_t fixed_divisor;
};

template <typename T>
using PlaneFunction = void (*)(const PlaneOf<T>& plane);

}  // namespace torchtrt::kernels::pooling
