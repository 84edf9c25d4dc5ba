// Rounding sizes up, mostly to cache lines: what kernels read and write begins at one, and vectors are at most as long.
#pragma once

#include <cstddef>
#include <type_traits>

namespace torchtrt {

inline constexpr size_t kAlignment = 64;  // bytes

// The least multiple of `unit` that is not below `value`; neither is negative.
template <typename T>
constexpr T roundUp(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

// The quotient of two numbers that are not negative, rounded up.
template <typename T>
constexpr T ceilDiv(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit;
}

template <typename T>
constexpr T alignUp(T bytes) {
  return roundUp(bytes, static_cast<T>(kAlignment));
}

}  // namespace torchtrt
