// Antialiased interpolation along one axis: a filter as wide as the step, so that every input element counts. It
// follows PyTorch's rule, in PyTorch's precision. taps.h has filters of two or four neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/resize/taps.h"

namespace torchtrt::kernels {

// Output i is the sum of weights[i * most + t] times element first[i] + t, t < count[i].
template <typename T>
struct Filter {
  int64_t most = 0;
  std::vector<int64_t> first, count;
  std::vector<T> weights;
  int shift = 0;  // whole weights are in units of 2^-shift
};

// All weights of an axis follow from these numbers.
template <typename T>
struct FilterRule {
  bool copies;   // each element is its own; `most` is 1
  int64_t most;  // elements that one output is made of
  T step;        // input cells per output cell
  T support;     // how far elements count, in input cells
  T inverse;     // from input cells to the filter's argument
};

// T is float or double; the mode is linear or cubic and sizes are at least 1.
template <typename T>
FilterRule<T> filterRule(const ResizeAxis& axis);
template <typename T>
Filter<T> antialiasFilter(const ResizeAxis& axis);

// Returns the filter for 8-bit images, as precise as 16 bits allow.
TORCHTRT_API Filter<int32_t> wholeFilter(const Filter<double>& filter);

extern template TORCHTRT_API FilterRule<float> filterRule<float>(const ResizeAxis& axis);
extern template TORCHTRT_API FilterRule<double> filterRule<double>(const ResizeAxis& axis);
extern template TORCHTRT_API Filter<float> antialiasFilter<float>(const ResizeAxis& axis);
extern template TORCHTRT_API Filter<double> antialiasFilter<double>(const ResizeAxis& axis);

}  // namespace torchtrt::kernels
