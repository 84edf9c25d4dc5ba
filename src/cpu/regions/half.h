// float16 as a type to compute in: every result is rounded to it, as torchvision's arithmetic in half types is. Kept as
// the float that it is exactly.
#pragma once

#include "kernels/scalar/half.h"

namespace torchtrt::kernels::regions {

class Half {
 public:
  Half() = default;
  template <typename Number>
  explicit Half(Number number) : value_(toFloat(toFloat16(static_cast<float>(number)))) {}

  operator float() const {  // NOLINT(google-explicit-constructor): mixed with numbers it is one
    return value_;
  }
  Half& operator+=(Half other) {
    return *this = Half(value_ + other.value_);
  }

 private:
  float value_ = 0;
};

// Operands read from memory are floats that float16 holds.
static_assert(sizeof(Half) == sizeof(float));

inline Half operator+(Half a, Half b) {
  return Half(static_cast<float>(a) + static_cast<float>(b));
}
inline Half operator-(Half a, Half b) {
  return Half(static_cast<float>(a) - static_cast<float>(b));
}
inline Half operator*(Half a, Half b) {
  return Half(static_cast<float>(a) * static_cast<float>(b));
}
inline Half operator/(Half a, Half b) {
  return Half(static_cast<float>(a) / static_cast<float>(b));
}

}  // namespace torchtrt::kernels::regions
