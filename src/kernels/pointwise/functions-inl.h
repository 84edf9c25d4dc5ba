// Functions of float32 vectors that pointwise layers alone have, in the form rows.cpp maps over rows: as near to the
// value as those of math-inl.h. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_POINTWISE_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_POINTWISE_FUNCTIONS_INL_H_
#undef TORCHTRT_KERNELS_POINTWISE_FUNCTIONS_INL_H_
#else
#define TORCHTRT_KERNELS_POINTWISE_FUNCTIONS_INL_H_
#endif

#include <cmath>
#include <limits>

#include "kernels/common/math-inl.h"
#include "kernels/pointwise/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

inline constexpr float kPi = 3.14159265358979323846F;
inline constexpr float kHalfPi = 1.57079632679489661923F;

struct Sign {  // 0 for NaN, as PyTorch
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    const auto one = math::constant(1.0F);
    const auto zero = math::constant(0.0F);
    return hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one), hn::IfThenElseZero(hn::Lt(x, zero), one));
  }
};
struct Frac {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    return hn::Sub(x, hn::Trunc(x));
  }
};

struct Tan {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    return hn::Div(sine<0>(x), sine<1>(x));
  }
};

// asin(s) where z = s * s, for s in [0, 1/2] (Moshier, Cephes).
HWY_INLINE math::FloatVec smallArcSine(math::FloatVec s, math::FloatVec z) {
  constexpr float kTerms[] = {1.6666752422e-1F, 7.4953002686e-2F, 4.5470025998e-2F, 2.4181311049e-2F, 4.2163199048e-2F};
  return hn::MulAdd(hn::Mul(math::polynomial(z, kTerms), z), s, s);
}
// For |x| above 1/2 asin(|x|) is pi/2 - 2 asin(s), and acos(|x|) 2 asin(s), where s * s = (1 - |x|) / 2; NaN beyond 1.
struct Asin {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    const auto half = math::constant(0.5F);
    const auto a = hn::Abs(x);
    const auto outer = hn::Gt(a, half);
    const auto z = hn::IfThenElse(outer, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
    const auto r = smallArcSine(hn::IfThenElse(outer, hn::Sqrt(z), a), z);
    const auto far = hn::NegMulAdd(math::constant(2.0F), r, math::constant(kHalfPi));
    return hn::Or(hn::IfThenElse(outer, far, r), hn::And(x, math::constant(-0.0F)));
  }
};
struct Acos {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    const auto half = math::constant(0.5F);
    const auto a = hn::Abs(x);
    const auto outer = hn::Gt(a, half);
    const auto z = hn::IfThenElse(outer, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
    const auto r = smallArcSine(hn::IfThenElse(outer, hn::Sqrt(z), a), z);
    const auto twice = hn::Add(r, r);
    const auto far = hn::IfThenElse(hn::Lt(x, math::constant(0.0F)), hn::Sub(math::constant(kPi), twice), twice);
    return hn::IfThenElse(outer, far, hn::Sub(math::constant(kHalfPi), hn::CopySign(r, x)));
  }
};

// atan(x) for x >= 0 (Moshier, Cephes): beyond tan(pi/8) around 1, beyond tan(3 pi/8) around infinity.
HWY_INLINE math::FloatVec positiveArcTangent(math::FloatVec x) {
  constexpr float kTerms[] = {-3.33329491539e-1F, 1.99777106478e-1F, -1.38776856032e-1F, 8.05374449538e-2F};
  const auto one = math::constant(1.0F);
  const auto middle = hn::Gt(x, math::constant(0.414213562373095F));
  const auto far = hn::Gt(x, math::constant(2.414213562373095F));
  const auto above = hn::IfThenElse(far, math::constant(-1.0F), hn::Sub(x, one));
  const auto below = hn::IfThenElse(far, x, hn::Add(x, one));
  const auto reduced = hn::IfThenElse(middle, hn::Div(above, below), x);
  const auto base =
      hn::IfThenElseZero(middle, hn::IfThenElse(far, math::constant(kHalfPi), math::constant(0.785398163397448F)));
  const auto z = hn::Mul(reduced, reduced);
  return hn::Add(base, hn::MulAdd(hn::Mul(math::polynomial(z, kTerms), z), reduced, reduced));
}
struct Atan {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    return hn::CopySign(positiveArcTangent(hn::Abs(x)), x);
  }
};
struct Atan2 {
  static HWY_INLINE math::FloatVec apply(math::FloatVec y, math::FloatVec x) {
    const math::FloatTag d;
    const auto ax = hn::Abs(x);
    const auto ay = hn::Abs(y);
    const auto steep = hn::Gt(ay, ax);
    const auto large = hn::IfThenElse(steep, ay, ax);
    const auto small = hn::IfThenElse(steep, ax, ay);
    // Two zeros lie along the axis, two infinities between both.
    auto ratio = hn::IfThenElse(hn::Eq(large, hn::Zero(d)), hn::Zero(d), hn::Div(small, large));
    ratio = hn::IfThenElse(hn::Eq(small, math::constant(std::numeric_limits<float>::infinity())), math::constant(1.0F),
                           ratio);
    auto angle = positiveArcTangent(ratio);
    angle = hn::IfThenElse(steep, hn::Sub(math::constant(kHalfPi), angle), angle);
    angle = hn::IfThenElse(hn::Lt(hn::CopySign(math::constant(1.0F), x), hn::Zero(d)),
                           hn::Sub(math::constant(kPi), angle), angle);
    const auto invalid = hn::Or(hn::IsNaN(x), hn::IsNaN(y));
    return hn::IfThenElse(invalid, hn::Add(x, y), hn::CopySign(angle, y));
  }
};

// e^a / 2 for a above 80, where e^a may be too large and e^-a is nothing beside it.
HWY_INLINE math::FloatVec halfOfLargeExponential(math::FloatVec a) {
  const auto root = math::exponential(hn::Mul(a, math::constant(0.5F)));
  return hn::Mul(hn::Mul(root, math::constant(0.5F)), root);
}
struct Sinh {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    const auto a = hn::Abs(x);
    const auto t = math::exponentialMinus1(a);
    const auto near = hn::Mul(math::constant(0.5F), hn::Add(t, hn::Div(t, hn::Add(t, math::constant(1.0F)))));
    return hn::CopySign(hn::IfThenElse(hn::Gt(a, math::constant(80.0F)), halfOfLargeExponential(a), near), x);
  }
};
struct Cosh {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    const auto half = math::constant(0.5F);
    const auto a = hn::Abs(x);
    const auto t = math::exponential(a);
    const auto near = hn::MulAdd(half, t, hn::Div(half, t));
    return hn::IfThenElse(hn::Gt(a, math::constant(80.0F)), halfOfLargeExponential(a), near);
  }
};
struct Atanh {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    const auto a = hn::Abs(x);
    const auto value = math::logarithm1p(hn::Div(hn::Add(a, a), hn::Sub(math::constant(1.0F), a)));
    return hn::CopySign(hn::Mul(math::constant(0.5F), value), x);
  }
};

// Whole numbers are powers to the bit.
struct Exp2 {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    const math::IntTag di;
    const auto inside = math::atMost(math::atLeast(x, math::constant(-151.0F)), math::constant(129.0F));
    const auto whole = hn::Round(inside);
    const auto rest = math::normalExponential(hn::Mul(hn::Sub(inside, whole), math::constant(0.693147180559945309F)));
    // Two factors, since 2^n alone may not be a normal number.
    const auto n = hn::ConvertTo(di, whole);
    const auto half = hn::ShiftRight<1>(n);
    return hn::Mul(hn::Mul(rest, math::powerOfTwo(half)), math::powerOfTwo(hn::Sub(n, half)));
  }
};
// Powers are whole numbers to the bit.
struct Log2 {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    const math::FloatTag d;
    const math::IntTag di;
    const auto infinity = math::constant(std::numeric_limits<float>::infinity());
    const auto tiny = hn::Lt(x, math::constant(std::numeric_limits<float>::min()));
    const auto scaled = hn::IfThenElse(tiny, hn::Mul(x, math::constant(0x1p23F)), x);
    // The mantissa in [sqrt(1/2), sqrt(2)).
    const auto root = hn::Set(di, 0x3F3504F3);
    const auto shifted = hn::Sub(hn::BitCast(di, scaled), root);
    const auto mantissa = hn::BitCast(d, hn::Add(hn::And(shifted, hn::Set(di, 0x007FFFFF)), root));
    const auto exponent =
        hn::Sub(hn::ConvertTo(d, hn::ShiftRight<23>(shifted)), hn::IfThenElseZero(tiny, math::constant(23.0F)));
    const auto value = hn::MulAdd(math::logarithm(mantissa), math::constant(1.44269504088896341F), exponent);
    // 0, infinity, NaN and what is negative are as those of the natural logarithm.
    const auto plain = hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, infinity));
    return hn::IfThenElse(plain, value, math::logarithm(x));
  }
};

}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
