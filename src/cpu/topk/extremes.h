// The position of the greatest or smallest float32 or float64 of a row, and of each of many rows that lie side by side.
// NaN is greater than every number; of equal ones the first counts.
#pragma once

#include <cstdint>
#include <type_traits>

namespace torchtrt::kernels::topk {

template <typename T>
struct Extremes {
  using Place = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;  // as wide as a value
  int64_t (*ofRow)(const T* row, int64_t count);                       // count > 0
  // Takes element `position` of every row: where it is beyond best[i], that and places[i] change.
  void (*update)(const T* elements, Place position, T* best, Place* places, int64_t rows);
  // The first of row[begin, end) beyond `best`, or end.
  int64_t (*findBeyond)(const T* row, int64_t begin, int64_t end, T best);
};

// The variants for this machine, of float and double.
template <typename T>
const Extremes<T>& extremes(bool largest);

template <>
const Extremes<float>& extremes<float>(bool largest);
template <>
const Extremes<double>& extremes<double>(bool largest);

}  // namespace torchtrt::kernels::topk
