// Quotients and remainders of float32 and float64 vectors, equal to the C library's and Python's in every bit, in the
// form rows.cpp maps over rows. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_POINTWISE_QUOTIENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_POINTWISE_QUOTIENTS_INL_H_
#undef TORCHTRT_KERNELS_POINTWISE_QUOTIENTS_INL_H_
#else
#define TORCHTRT_KERNELS_POINTWISE_QUOTIENTS_INL_H_
#endif

#include <cmath>
#include <limits>

#include "cpu/simd/math-inl.h"
#include "cpu/simd/rounding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

// The remainder with the sign of the dividend. With a quotient of fewer bits than a float has, the integer part of the
// rounded quotient is right or, where it was rounded up to an integer, one too large; then the fused remainder is exact
// and has the wrong sign. Larger quotients and what is not finite, all rare, go lane by lane.
struct Fmod {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    using T = hn::TFromD<hn::DFromV<V>>;
    const hn::DFromV<V> d;
    const auto quotient = hn::Div(a, b);
    const auto few = hn::And(hn::Lt(hn::Abs(quotient), hn::Set(d, T(sizeof(T) == 4 ? 0x1p22 : 0x1p51))),
                             hn::Le(hn::Abs(b), hn::Set(d, std::numeric_limits<T>::max())));
    if (HWY_NATIVE_FMA && HWY_LIKELY(hn::AllTrue(d, few))) {
      const auto rest = hn::NegMulAdd(hn::Trunc(quotient), b, a);
      const auto over = hn::Lt(hn::Mul(hn::CopySign(hn::Set(d, T(1)), a), rest), hn::Zero(d));
      const auto right = hn::IfThenElse(over, hn::Sub(hn::Abs(b), hn::Abs(rest)), hn::Abs(rest));
      return hn::CopySign(right, a);
    }
    HWY_ALIGN T dividends[HWY_MAX_BYTES / sizeof(T)];
    HWY_ALIGN T divisors[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(a, d, dividends);
    hn::Store(b, d, divisors);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      dividends[i] = std::fmod(dividends[i], divisors[i]);
    }
    return hn::Load(d, dividends);
  }
};

// Marks the remainders whose sign is not that of the divisor.
template <typename V>
HWY_INLINE auto hasOtherSign(V remainder, V b) {
  const auto zero = hn::Zero(hn::DFromV<V>());
  return hn::And(hn::Ne(remainder, zero), hn::Xor(hn::Lt(b, zero), hn::Lt(remainder, zero)));
}

struct Modulo {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    const auto remainder = Fmod::apply(a, b);
    return hn::IfThenElse(hasOtherSign(remainder, b), hn::Add(remainder, b), remainder);
  }
};

// Python's //: from the exact remainder, so that the quotient is not rounded up to the next integer.
struct FloorDivide {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    using T = hn::TFromD<hn::DFromV<V>>;
    const hn::DFromV<V> d;
    const auto zero = hn::Zero(d);
    const auto one = hn::Set(d, T(1));
    const auto remainder = Fmod::apply(a, b);
    const auto whole = hn::Div(hn::Sub(a, remainder), b);
    const auto quotient = hn::IfThenElse(hasOtherSign(remainder, b), hn::Sub(whole, one), whole);
    const auto floored = math::roundDown(quotient);
    const auto nearest =
        hn::IfThenElse(hn::Gt(hn::Sub(quotient, floored), hn::Set(d, T(0.5))), hn::Add(floored, one), floored);
    const auto plain = hn::Div(a, b);
    const auto result = hn::IfThenElse(hn::Eq(quotient, zero), hn::CopySign(zero, plain), nearest);
    return hn::IfThenElse(hn::Eq(b, zero), plain, result);
  }
};

struct TruncatedDivide {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Trunc(hn::Div(a, b));
  }
};

}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
