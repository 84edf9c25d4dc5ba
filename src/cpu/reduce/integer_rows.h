// Folds of integers behind the fast reductions of them: sums and products wrap, so that their order is free.
#pragma once

#include <cstdint>
#include <string_view>

namespace torchtrt::kernels::reduce {

template <typename T>
struct IntegerFolds {
  void (*columns)(const T* values, T* totals, int64_t count) = nullptr;  // totals[i] = op(totals[i], values[i])
  T (*row)(const T* values, int64_t count, T total) = nullptr;           // op of all of them and the total
  T start = 0;                                                           // what op changes nothing of
};

// Returns the functions of "sum", "prod", "max" and "min", and none for others. T is int64_t, int32_t, int16_t, int8_t
// or uint8_t.
template <typename T>
IntegerFolds<T> integerFolds(std::string_view op);

}  // namespace torchtrt::kernels::reduce
