// Elementary functions over Highway vectors of float64, within 2 units in the last place (tanh: 2.3); what
// math-inl.h says of NaN, infinities, zeros and sizes holds here too. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_COMMON_MATH64_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_COMMON_MATH64_INL_H_
#undef TORCHTRT_KERNELS_COMMON_MATH64_INL_H_
#else
#define TORCHTRT_KERNELS_COMMON_MATH64_INL_H_
#endif

#include <numbers>

#include "cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {

using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;
using Int64Tag = hn::RebindToSigned<DoubleTag>;

// ln 2 in two parts; the first has 21 bits less, so that its products with exponents are exact.
inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;

HWY_INLINE DoubleVec constant(double value) {
  return hn::Set(DoubleTag(), value);
}

template <size_t k = 0, size_t kCount>
HWY_INLINE DoubleVec polynomial(DoubleVec x, const double (&c)[kCount]) {
  if constexpr (k + 1 == kCount) {
    return constant(c[k]);
  } else {
    return hn::MulAdd(polynomial<k + 1>(x, c), x, constant(c[k]));
  }
}

// The nearest integer, as a number and as bits. |x| < 2^51.
HWY_INLINE DoubleVec nearest(DoubleVec x, hn::Vec<Int64Tag>& n) {
  // Beside 1.5 * 2^52 the last bit of a sum is a unit: it rounds, and its bits hold the integer.
  const DoubleVec large = constant(0x1.8p52);
  const DoubleVec shifted = hn::Add(x, large);
  n = hn::Sub(hn::BitCast(Int64Tag(), shifted), hn::BitCast(Int64Tag(), large));
  return hn::Sub(shifted, large);
}

// 2^n for integral n in [-1022, 1023].
HWY_INLINE DoubleVec powerOfTwo64(hn::Vec<Int64Tag> n) {
  return hn::BitCast(DoubleTag(), hn::ShiftLeft<52>(hn::Add(n, hn::Set(Int64Tag(), 1023))));
}

// x = n ln 2 + r with |r| <= ln 2 / 2 and |x| < 1100; returns e^r - 1.
HWY_INLINE DoubleVec reducedExpm1(DoubleVec x, DoubleVec& whole, hn::Vec<Int64Tag>& n) {
  // (e^r - 1 - r) / r^2, by Chebyshev interpolation: e^r - 1 has an error of 3e-19.
  constexpr double kTerms[] = {0.5,
                               0.1666666666666667,
                               0.04166666666666667,
                               0.008333333333326136,
                               0.0013888888888883748,
                               0.00019841269874820627,
                               2.4801587325547743e-05,
                               2.7557255400206422e-06,
                               2.75572736431103e-07,
                               2.5105217004720745e-08,
                               2.0914686968086876e-09};
  whole = nearest(hn::Mul(x, constant(std::numbers::log2e)), n);
  const DoubleVec r = hn::NegMulAdd(whole, constant(kLn2Low), hn::NegMulAdd(whole, constant(kLn2High), x));
  return hn::MulAdd(polynomial(r, kTerms), hn::Mul(r, r), r);
}

HWY_INLINE DoubleVec exponential(DoubleVec x) {
  DoubleVec whole;
  hn::Vec<Int64Tag> n, half;
  const DoubleVec p =
      hn::Add(reducedExpm1(atMost(atLeast(x, constant(-746.0)), constant(710.0)), whole, n), constant(1.0));
  // Two factors, since 2^n alone may not be a normal number.
  nearest(hn::Mul(whole, constant(0.5)), half);
  return hn::Mul(hn::Mul(p, powerOfTwo64(half)), powerOfTwo64(hn::Sub(n, half)));
}

// e^x - 1 for x in [-60, 710].
HWY_INLINE DoubleVec moderateExponentialMinus1(DoubleVec x) {
  DoubleVec whole;
  hn::Vec<Int64Tag> n;
  const DoubleVec q = reducedExpm1(x, whole, n);
  const DoubleVec power = powerOfTwo64(hn::Sub(n, hn::Set(Int64Tag(), 1)));  // half of it: 2^1024 is no number
  const DoubleVec result = hn::MulAdd(power, q, hn::Sub(power, constant(0.5)));
  return hn::Add(result, result);
}

HWY_INLINE DoubleVec exponentialMinus1(DoubleVec x) {
  const DoubleVec result = moderateExponentialMinus1(atMost(atLeast(x, constant(-60.0)), constant(710.0)));
  return hn::Or(result, hn::And(x, constant(-0.0)));  // its sign is that of x, also of zero
}

// ln(1 + f) + e ln 2 + c for 1 + f in [sqrt(1/2), sqrt(2)]; c is small. The method and its terms are those of fdlibm's
// log().
HWY_INLINE DoubleVec reducedLogarithm(DoubleVec f, DoubleVec e, DoubleVec c) {
  constexpr double kTerms[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                               2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                               1.479819860511658591e-01};
  const DoubleVec s = hn::Div(f, hn::Add(f, constant(2.0)));
  const DoubleVec z = hn::Mul(s, s);
  const DoubleVec half_square = hn::Mul(hn::Mul(f, f), constant(0.5));
  const DoubleVec rest = hn::Mul(z, polynomial(z, kTerms));
  const DoubleVec low = hn::MulAdd(s, hn::Add(half_square, rest), hn::MulAdd(e, constant(kLn2Low), c));
  return hn::MulAdd(e, constant(kLn2High), hn::Sub(f, hn::Sub(half_square, low)));
}

// x = 2^e (1 + f), x positive and normal.
HWY_INLINE DoubleVec mantissaMinus1(DoubleVec x, DoubleVec& e) {
  const hn::RebindToUnsigned<DoubleTag> du;
  constexpr uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;
  const auto shifted = hn::Add(hn::BitCast(du, x), hn::Set(du, 0x3FF0000000000000 - kRootOfHalf));
  // The exponent's bits become the last of a number near 2^52.
  const auto exponent = hn::Or(hn::ShiftRight<52>(shifted), hn::BitCast(du, constant(0x1p52)));
  e = hn::Sub(hn::BitCast(DoubleTag(), exponent), constant(0x1p52 + 1023));
  const auto mantissa = hn::Add(hn::And(shifted, hn::Set(du, 0x000FFFFFFFFFFFFF)), hn::Set(du, kRootOfHalf));
  return hn::Sub(hn::BitCast(DoubleTag(), mantissa), constant(1.0));
}

// Returns a logarithm of x with its values at the ends of the domain, and `result` between them.
template <typename V>
HWY_INLINE V withEnds(V x, V result) {
  using T = hn::TFromV<V>;
  const V zero = hn::Zero(hn::DFromV<V>());
  const V infinity = constant(std::numeric_limits<T>::infinity());
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  result = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), result);
  const auto invalid = hn::Not(hn::Ge(x, zero));  // negative or NaN
  return hn::IfThenElse(invalid, constant(std::numeric_limits<T>::quiet_NaN()), result);
}

// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), x positive.
HWY_INLINE DoubleVec splitMinus1(DoubleVec x, DoubleVec& e) {
  const auto tiny = hn::Lt(x, constant(std::numeric_limits<double>::min()));
  const DoubleVec f = mantissaMinus1(hn::IfThenElse(tiny, hn::Mul(x, constant(0x1p54)), x), e);
  e = hn::Sub(e, hn::IfThenElseZero(tiny, constant(54.0)));
  return f;
}

HWY_INLINE DoubleVec logarithm(DoubleVec x) {
  DoubleVec e;
  const DoubleVec f = splitMinus1(x, e);
  return withEnds(x, reducedLogarithm(f, e, constant(0.0)));
}

HWY_INLINE DoubleVec logarithm1p(DoubleVec x) {
  const DoubleVec one = constant(1.0);
  const DoubleVec u = hn::Add(one, x);
  DoubleVec e;
  const DoubleVec f = mantissaMinus1(u, e);
  // The rounding error of 1 + x, relative to u. It is 0 where x itself is in range.
  const DoubleVec lost = hn::Div(hn::Sub(x, hn::Sub(u, one)), u);
  const auto near = hn::And(hn::Gt(x, constant(-0.29)), hn::Lt(x, constant(0.41)));
  const DoubleVec result =
      reducedLogarithm(hn::IfThenElse(near, x, f), hn::IfThenZeroElse(near, e), hn::IfThenZeroElse(near, lost));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), constant(0x1p-54)), x, withEnds(u, result));
}

HWY_INLINE DoubleVec hyperbolicTangent(DoubleVec x) {
  // With t = e^2a - 1: 1 - 2 / (t + 2) for large a; with t = e^-2a - 1: -t / (t + 2) for small.
  const DoubleVec a = atMost(hn::Abs(x), constant(22.0));
  const auto large = hn::Ge(a, constant(1.0));
  const DoubleVec twice = hn::Add(a, a);
  const DoubleVec t = moderateExponentialMinus1(hn::IfThenElse(large, twice, hn::Neg(twice)));
  const DoubleVec quotient = hn::Div(hn::IfThenElse(large, constant(2.0), hn::Neg(t)), hn::Add(t, constant(2.0)));
  return hn::CopySign(hn::IfThenElse(large, hn::Sub(constant(1.0), quotient), quotient), x);
}

HWY_INLINE DoubleVec onePlusExponentialOfMinus(DoubleVec x) {
  return hn::Add(constant(1.0), exponential(hn::Neg(x)));
}

HWY_INLINE DoubleVec logistic(DoubleVec x) {
  return hn::Div(constant(1.0), onePlusExponentialOfMinus(x));
}

HWY_INLINE DoubleVec sigmoidWeighted(DoubleVec x) {
  return hn::Div(x, onePlusExponentialOfMinus(x));
}

HWY_INLINE DoubleVec errorFunction(DoubleVec x) {
  // Chebyshev interpolation of erf(x) / x in x^2 on [0, 1], and of e^(x^2) erfc(x) in (x - 5/2) / (x + 5/2) on [1, 6].
  constexpr double kSmall[] = {1.1283791670955126,      -0.3761263890318375,     0.11283791670954879,
                               -0.026866170645076792,   0.0052239776248180145,   -0.000854832698083379,
                               0.0001205533111164271,   -1.4925595266831182e-05, 1.6461000484121368e-06,
                               -1.6350312701054695e-07, 1.4659775274047436e-08,  -1.1372848856791674e-09,
                               5.957176147748911e-11};
  constexpr double kLarge[] = {0.2108063640611436,      -0.37173673394897294,    0.2517131932174488,
                               -0.12503305237891782,    0.03992253907546523,     -0.003993701160123029,
                               -0.0026423659518134547,  0.0008759152875774328,   0.0002283799633257643,
                               -0.00012887483134837842, -3.4175718896856294e-05, 1.8596747731144528e-05,
                               7.499735050763299e-06,   -2.2328516517555215e-06, -1.587633893127344e-06};
  const DoubleVec a = atMost(hn::Abs(x), constant(6.0));
  const DoubleVec square = hn::Mul(a, a);
  const DoubleVec small = hn::Mul(a, polynomial(square, kSmall));
  const DoubleVec t = hn::Div(hn::Sub(a, constant(2.5)), hn::Add(a, constant(2.5)));
  const DoubleVec large = hn::NegMulAdd(polynomial(t, kLarge), exponential(hn::Neg(square)), constant(1.0));
  return hn::CopySign(hn::IfThenElse(hn::Gt(a, constant(1.0)), large, small), x);
}

// x times the share of the normal distribution below x.
HWY_INLINE DoubleVec normalWeighted(DoubleVec x) {
  const DoubleVec error = errorFunction(hn::Mul(x, constant(std::numbers::sqrt2 / 2)));
  return hn::Mul(hn::Mul(x, constant(0.5)), hn::Add(constant(1.0), error));
}

}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
