// x^y of vectors, in the form rows.cpp maps over rows: float32 rounded once from float64, float64 within 1.5 units
// in the last place; signs and ends are those of the C library's pow(). Included once per instruction set.

#if defined(TORCHTRT_KERNELS_POINTWISE_POWERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_POINTWISE_POWERS_INL_H_
#undef TORCHTRT_KERNELS_POINTWISE_POWERS_INL_H_
#else
#define TORCHTRT_KERNELS_POINTWISE_POWERS_INL_H_
#endif

#include <cmath>
#include <limits>
#include <numbers>

#include "cpu/simd/math64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

// A number as the sum of two, the second at most half a unit in the last place of the first.
struct TwoDoubles {
  math::DoubleVec high, low;
};
// a + b for |a| >= |b| or a = 0.
HWY_INLINE TwoDoubles addSmaller(math::DoubleVec a, math::DoubleVec b) {
  const auto sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}
// Needs fused products.
HWY_INLINE TwoDoubles multiply(math::DoubleVec a, math::DoubleVec b) {
  const auto product = hn::Mul(a, b);
  return {product, hn::MulSub(a, b, product)};
}
HWY_INLINE TwoDoubles multiply(const TwoDoubles& a, const TwoDoubles& b) {
  const TwoDoubles product = multiply(a.high, b.high);
  return {product.high, hn::MulAdd(a.high, b.low, hn::MulAdd(a.low, b.high, product.low))};
}

// ln x to some 65 bits, x positive and finite: x = 2^e (1 + f), s = f / (2 + f), ln(1 + f) = 2s + 2/3 s^3 + 2/5 s^5 ...
HWY_INLINE TwoDoubles longLogarithm(math::DoubleVec x) {
  constexpr double kTerms[] = {2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  math::DoubleVec e;
  const auto f = math::splitMinus1(x, e);
  const TwoDoubles divisor = addSmaller(math::constant(2.0), f);
  const auto inverse = hn::Div(math::constant(1.0), divisor.high);
  TwoDoubles s;
  s.high = hn::Mul(f, inverse);
  const auto rest = hn::NegMulAdd(s.high, divisor.low, hn::NegMulAdd(s.high, divisor.high, f));
  s.low = hn::Mul(rest, inverse);
  const TwoDoubles square = multiply(s, s);
  const auto later = hn::Mul(square.high, math::polynomial(square.high, kTerms));
  TwoDoubles factor = addSmaller(math::constant(2.0 / 3), later);
  factor.low = hn::Add(factor.low, math::constant(3.700743415417188e-17));  // what 2/3 is more
  const TwoDoubles tail = multiply(multiply(s, square), factor);
  const TwoDoubles first = addSmaller(hn::Mul(e, math::constant(math::kLn2High)), hn::Add(s.high, s.high));
  const TwoDoubles second = addSmaller(first.high, tail.high);
  const auto low = hn::Add(hn::MulAdd(e, math::constant(math::kLn2Low), hn::Add(s.low, s.low)),
                           hn::Add(first.low, hn::Add(second.low, tail.low)));
  return addSmaller(second.high, low);
}

// e^(x.high + x.low)
HWY_INLINE math::DoubleVec exponential(const TwoDoubles& x) {
  // Beyond, results are 0 or infinite, and the second part may be NaN.
  const auto moderate = hn::Lt(hn::Abs(x.high), math::constant(800.0));
  const auto value = math::exponential(x.high);
  const auto rest = hn::IfThenElseZero(moderate, x.low);
  const auto changed = hn::MulAdd(value, rest, value);
  return hn::IfThenElse(hn::Eq(value, math::constant(std::numeric_limits<double>::infinity())), value, changed);
}

// x^y for x >= 0, except for the ends that withSigns() gives.
HWY_INLINE math::DoubleVec positivePower(math::DoubleVec x, math::DoubleVec y) {
  const auto infinity = math::constant(std::numeric_limits<double>::infinity());
  const TwoDoubles logarithm = longLogarithm(x);
  auto high = hn::IfThenElse(hn::Eq(x, hn::Zero(math::DoubleTag())), hn::Neg(infinity), logarithm.high);
  high = hn::IfThenElse(hn::Lt(x, infinity), high, x);  // infinity and NaN
  const TwoDoubles product = multiply(y, high);
  return exponential(TwoDoubles{product.high, hn::MulAdd(y, logarithm.low, product.low)});
}

#if HWY_TARGET != HWY_SCALAR
template <typename D64, typename V>
HWY_INLINE auto powerOfHalf(V x, V y) {
  const D64 d;
  const hn::Rebind<float, D64> narrow;
  const auto product = hn::Mul(hn::PromoteTo(d, y), math::logarithm(hn::PromoteTo(d, x)));
  return hn::DemoteTo(narrow, math::exponential(product));
}
HWY_INLINE math::FloatVec positivePower(math::FloatVec x, math::FloatVec y) {
  const math::FloatTag d;
  const hn::Half<math::FloatTag> half;
  using D64 = math::DoubleTag;
  const auto low = powerOfHalf<D64>(hn::LowerHalf(half, x), hn::LowerHalf(half, y));
  const auto high = powerOfHalf<D64>(hn::UpperHalf(half, x), hn::UpperHalf(half, y));
  return hn::Combine(d, high, low);
}
#endif

// Turns the power of |x| into that of x.
template <typename V>
HWY_INLINE V withSigns(V x, V y, V power) {
  using T = hn::TFromD<hn::DFromV<V>>;
  const hn::DFromV<V> d;
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, T(1));
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const V half = hn::Mul(y, hn::Set(d, T(0.5)));
  const auto whole = hn::Eq(y, hn::Trunc(y));
  const auto odd = hn::And(whole, hn::Ne(half, hn::Trunc(half)));
  V result = hn::Or(power, hn::IfThenElseZero(odd, hn::And(x, hn::Set(d, T(-0.0)))));
  const auto no_root = hn::AndNot(whole, hn::And(hn::Lt(x, zero), hn::Gt(x, hn::Neg(infinity))));
  result = hn::IfThenElse(no_root, hn::Set(d, std::numeric_limits<T>::quiet_NaN()), result);
  const auto endless_ones = hn::And(hn::Eq(x, hn::Neg(one)), hn::Eq(hn::Abs(y), infinity));
  const auto is_one = hn::Or(endless_ones, hn::Or(hn::Eq(y, zero), hn::Eq(x, one)));
  return hn::IfThenElse(is_one, one, result);
}

struct Pow {
  template <typename V>
  static HWY_INLINE V apply(V x, V y) {
    using T = hn::TFromD<hn::DFromV<V>>;
#if HWY_NATIVE_FMA
    return withSigns(x, y, positivePower(hn::Abs(x), y));
#else
    const hn::DFromV<V> d;
    HWY_ALIGN T bases[HWY_MAX_BYTES / sizeof(T)];
    HWY_ALIGN T exponents[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(x, d, bases);
    hn::Store(y, d, exponents);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      bases[i] = std::pow(bases[i], exponents[i]);
    }
    return hn::Load(d, bases);
#endif
  }
};

}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
