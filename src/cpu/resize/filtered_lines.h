// Weighted sums of as many elements as a filter has: across lines, and along lines that lie side by side, so that both
// are vectors of lines or of what lies in one. For float, double and bytes, whose weights are whole numbers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/resize/filter.h"

namespace torchtrt::kernels::resize {

inline constexpr int64_t kLinesAbreast = 16;

template <typename T>
using WeightOf = std::conditional_t<std::is_same_v<T, uint8_t>, int32_t, T>;

template <typename T>
struct FilteredLines {
  using Table = Filter<WeightOf<T>>;
  // Output `row` of a filter over lines of `length` elements, the first at `lines`.
  void (*across)(const Table& filter, int64_t row, const T* lines, int64_t length, T* out);
  // [elements][kLinesAbreast] becomes [outputs][kLinesAbreast].
  void (*along)(const Table& filter, const T* in, T* out);
};

template <typename T>
FilteredLines<T> filteredLines();

extern template FilteredLines<float> filteredLines<float>();
extern template FilteredLines<double> filteredLines<double>();
extern template FilteredLines<uint8_t> filteredLines<uint8_t>();

}  // namespace torchtrt::kernels::resize
