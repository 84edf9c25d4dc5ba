// Integer arithmetic of symbolic dimensions: with overflow reported, clamped to int64's ends, and division as Python's.
// Not for tensor data: there integers wrap.
#pragma once

#include <cstdint>
#include <limits>

namespace torchtrt {

inline constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

// Rounds towards minus infinity. The divisor is not 0, and not -1 where the dividend is kInt64Min.
inline int64_t floorDivInt(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - static_cast<int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

// The remainder with the divisor's sign.
inline int64_t floorModInt(int64_t a, int64_t b) {
  const int64_t remainder = b == -1 ? 0 : a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

inline int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? kInt64Min : kInt64Max) : sum;
}

inline int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ((a < 0) != (b < 0) ? kInt64Min : kInt64Max) : product;
}

inline int64_t saturatingFloorDiv(int64_t a, int64_t b) {
  return a == kInt64Min && b == -1 ? kInt64Max : floorDivInt(a, b);
}

}  // namespace torchtrt
