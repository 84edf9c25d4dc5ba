// Integer arithmetic as PyTorch defines it and C++ does not: it wraps, and the smallest integer divided by -1 is
// itself. Values are those of the compute type; narrower dtypes wrap when they are stored.
#pragma once

#include <cstdint>

#include "torchtrt/error.h"

namespace torchtrt::kernels {

inline int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

inline int64_t wrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

inline int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

inline int64_t wrapNegate(int64_t a) {
  return wrapSub(0, a);
}

inline void requireDivisor(int64_t divisor) {
  if (divisor == 0) [[unlikely]] {
    throw EngineError(ErrorCode::kDivisionByZero, "an integer is divided by zero", {},
                      "integers have no infinity: divide floating tensors, or keep zeros out of the divisor");
  }
}

inline int64_t truncatedDivide(int64_t a, int64_t b) {
  requireDivisor(b);
  return b == -1 ? wrapNegate(a) : a / b;
}

// The remainder with the sign of the dividend.
inline int64_t truncatedModulo(int64_t a, int64_t b) {
  requireDivisor(b);
  return b == -1 ? 0 : a % b;
}

inline int64_t floorDivide(int64_t a, int64_t b) {
  const int64_t quotient = truncatedDivide(a, b);
  return truncatedModulo(a, b) != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// The remainder with the sign of the divisor, as Python's.
inline int64_t floorModulo(int64_t a, int64_t b) {
  const int64_t remainder = truncatedModulo(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// Negative exponents give the integer part of the reciprocal: 0, except for bases 1 and -1; 0 has none and gives 0.
inline int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) {
      return 1;
    }
    return base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  int64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = wrapMul(base, base)) {
    if ((exponent & 1) != 0) {
      result = wrapMul(result, base);
    }
  }
  return result;
}

}  // namespace torchtrt::kernels
