// Elementary functions over Highway vectors of float32, within 3.5e-7 of the value. NaN comes back as
// NaN, and infinities, zeros and results too large or too small for float32 are those of the C library. Included once
// per instruction set, like every *-inl.h of Highway.

#if defined(TORCHTRT_KERNELS_COMMON_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_COMMON_MATH_INL_H_
#undef TORCHTRT_KERNELS_COMMON_MATH_INL_H_
#else
#define TORCHTRT_KERNELS_COMMON_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;
using IntTag = hn::RebindToSigned<FloatTag>;

HWY_INLINE FloatVec constant(float value) {
  return hn::Set(FloatTag(), value);
}

// max(x, low) and min(x, high) that keep NaN. Vector instructions return their second operand when one is NaN.
template <typename V>
HWY_INLINE V atLeast(V x, V low) {
  return HWY_TARGET == HWY_SCALAR ? hn::IfThenElse(hn::Lt(x, low), low, x) : hn::Max(low, x);
}
template <typename V>
HWY_INLINE V atMost(V x, V high) {
  return HWY_TARGET == HWY_SCALAR ? hn::IfThenElse(hn::Gt(x, high), high, x) : hn::Min(high, x);
}

// Returns the greater of two numbers, NaN if either is. Comparisons with NaN are false, so the first test lets a NaN of
// either side through.
template <typename V>
HWY_INLINE V greater(V so_far, V x) {
  return hn::IfThenElse(hn::Or(hn::Gt(x, so_far), hn::IsNaN(x)), x, so_far);
}
template <typename V>
HWY_INLINE V lesser(V so_far, V x) {
  return hn::IfThenElse(hn::Or(hn::Lt(x, so_far), hn::IsNaN(x)), x, so_far);
}

// c[k] + c[k + 1] x + c[k + 2] x^2 + ... A loop would keep the coefficients on the stack and fill them in for every
// vector.
template <size_t k = 0, size_t kCount>
HWY_INLINE FloatVec polynomial(FloatVec x, const float (&c)[kCount]) {
  if constexpr (k + 1 == kCount) {
    return constant(c[k]);
  } else {
    return hn::MulAdd(polynomial<k + 1>(x, c), x, constant(c[k]));
  }
}

// 2^n for integral n in [-126, 127].
HWY_INLINE FloatVec powerOfTwo(hn::Vec<IntTag> n) {
  return hn::BitCast(FloatTag(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(IntTag(), 127))));
}

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, so that e^r - 1 has a least relative error of 1.3e-8.
HWY_INLINE FloatVec exponentialTail(FloatVec r) {
  constexpr float kTerms[] = {0.4999999701976776F, 0.1666654348373413F, 0.04166720062494278F, 0.008366547524929047F,
                              0.0013882530620321631F};
  return polynomial(r, kTerms);
}

// x = n ln 2 + r with |r| <= ln 2 / 2 and |x| < 110; returns e^r - 1.
HWY_INLINE FloatVec reducedExpm1(FloatVec x, hn::Vec<IntTag>& n) {
  // Beside 1.5 * 2^23 the last bit of a sum is a unit: it rounds, and its bits hold the integer.
  const FloatVec large = constant(0x1.8p23F);
  const FloatVec shifted = hn::MulAdd(x, constant(1.44269504088896341F), large);
  n = hn::Sub(hn::BitCast(IntTag(), shifted), hn::BitCast(IntTag(), large));
  const FloatVec whole = hn::Sub(shifted, large);
#if HWY_NATIVE_FMA
  const FloatVec r = hn::NegMulAdd(whole, constant(0.693147180559945309F), x);  // n times 1.9e-9 off
#else
  FloatVec r = hn::NegMulAdd(whole, constant(0.693359375F), x);  // exact product: the constant has few bits
  r = hn::NegMulAdd(whole, constant(-2.12194440e-4F), r);
#endif
  return hn::MulAdd(exponentialTail(r), hn::Mul(r, r), r);
}

// e^x where that is surely a normal number.
HWY_INLINE FloatVec normalExponential(FloatVec x) {
  hn::Vec<IntTag> n;
  const FloatVec p = hn::Add(reducedExpm1(x, n), constant(1.0F));
  return hn::Mul(p, powerOfTwo(n));
}

HWY_INLINE FloatVec exponential(FloatVec x) {
  // Two factors, since 2^n alone may not be a normal number.
  hn::Vec<IntTag> n;
  const FloatVec p = hn::Add(reducedExpm1(atMost(atLeast(x, constant(-104.0F)), constant(89.0F)), n), constant(1.0F));
  const auto half = hn::ShiftRight<1>(n);
  return hn::Mul(hn::Mul(p, powerOfTwo(half)), powerOfTwo(hn::Sub(n, half)));
}

// e^x - 1 for x in [-80, 60].
HWY_INLINE FloatVec moderateExponentialMinus1(FloatVec x) {
  hn::Vec<IntTag> n;
  const FloatVec q = reducedExpm1(x, n);
  const FloatVec power = powerOfTwo(n);
  return hn::MulAdd(power, q, hn::Sub(power, constant(1.0F)));
}

HWY_INLINE FloatVec exponentialMinus1(FloatVec x) {
  const FloatVec clamped = atMost(atLeast(x, constant(-80.0F)), constant(60.0F));
  const FloatVec result =
      hn::IfThenElse(hn::Gt(x, constant(50.0F)), exponential(x), moderateExponentialMinus1(clamped));
  return hn::Or(result, hn::And(x, constant(-0.0F)));  // its sign is that of x, also of zero
}

HWY_INLINE FloatVec logarithm(FloatVec x) {
  const FloatTag d;
  const IntTag di;
  constexpr float kTerms[] = {3.3333331174e-1F,  -2.4999993993e-1F, 2.0000714765e-1F,
                              -1.6668057665e-1F, 1.4249322787e-1F,  -1.2420140846e-1F,
                              1.1676998740e-1F,  -1.1514610310e-1F, 7.0376836292e-2F};
  const auto tiny = hn::Lt(x, constant(std::numeric_limits<float>::min()));
  const FloatVec scaled = hn::IfThenElse(tiny, hn::Mul(x, constant(0x1p23F)), x);
  // Mantissa in [sqrt(1/2), sqrt(2)): the exponent is taken relative to sqrt(1/2).
  const auto bits = hn::BitCast(di, scaled);
  const auto shifted = hn::Sub(bits, hn::Set(di, 0x3F3504F3));
  const FloatVec e = hn::Sub(hn::ConvertTo(d, hn::ShiftRight<23>(shifted)), hn::IfThenElseZero(tiny, constant(23.0F)));
  const auto mantissa = hn::Add(hn::And(shifted, hn::Set(di, 0x007FFFFF)), hn::Set(di, 0x3F3504F3));
  const FloatVec m = hn::Sub(hn::BitCast(d, mantissa), constant(1.0F));
  const FloatVec square = hn::Mul(m, m);
  FloatVec y = hn::Mul(hn::Mul(polynomial(m, kTerms), m), square);
  y = hn::MulAdd(e, constant(-2.12194440e-4F), y);
  y = hn::NegMulAdd(square, constant(0.5F), y);
  FloatVec result = hn::MulAdd(e, constant(0.693359375F), hn::Add(m, y));
  const FloatVec infinity = constant(std::numeric_limits<float>::infinity());
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  result = hn::IfThenElse(hn::Eq(x, constant(0.0F)), hn::Neg(infinity), result);
  const auto invalid = hn::Not(hn::Ge(x, constant(0.0F)));  // negative or NaN
  return hn::IfThenElse(invalid, constant(std::numeric_limits<float>::quiet_NaN()), result);
}

HWY_INLINE FloatVec logarithm1p(FloatVec x) {
  const FloatVec one = constant(1.0F);
  const FloatVec u = hn::Add(one, x);
  // log(u) plus what rounding 1 + x lost, relative to u.
  const FloatVec lost = hn::Div(hn::Sub(x, hn::Sub(u, one)), u);
  const FloatVec sum = hn::Add(logarithm(u), lost);
  const auto plain = hn::Or(hn::Eq(u, constant(std::numeric_limits<float>::infinity())), hn::Eq(u, constant(0.0F)));
  return hn::IfThenElse(hn::Eq(u, one), x, hn::IfThenElse(plain, logarithm(u), sum));
}

HWY_INLINE FloatVec hyperbolicTangent(FloatVec x) {
  const FloatVec a = atMost(hn::Abs(x), constant(10.0F));
  const FloatVec t = moderateExponentialMinus1(hn::Add(a, a));
  return hn::CopySign(hn::Div(t, hn::Add(t, constant(2.0F))), x);
}

// 1 + e^-x, infinity from about -88.4 down. All in as few steps as there are: activations of this form are most of
// some networks' time.
HWY_INLINE FloatVec onePlusExponentialOfMinus(FloatVec x) {
  const FloatVec inside = atMost(atLeast(x, constant(-89.0F)), constant(88.0F));
  // -x = n ln 2 + r. As in reducedExpm1, but what holds n holds the bits of 2^n, too: of n + 127, all but the last
  // eight are shifted out. They are 0 for n = -127, and infinity for 128.
  const FloatVec large = constant(0x1.8p23F + 127.0F);
  const FloatVec shifted = hn::MulAdd(inside, constant(-1.44269504088896341F), large);
  const FloatVec whole = hn::Sub(shifted, large);
#if HWY_NATIVE_FMA
  const FloatVec r = hn::NegMulSub(whole, constant(0.693147180559945309F), inside);
#else
  FloatVec r = hn::NegMulSub(whole, constant(0.693359375F), inside);
  r = hn::NegMulAdd(whole, constant(-2.12194440e-4F), r);
#endif
  const FloatVec p = hn::MulAdd(exponentialTail(r), hn::Mul(r, r), hn::Add(r, constant(1.0F)));
  const FloatVec power = hn::BitCast(FloatTag(), hn::ShiftLeft<23>(hn::BitCast(IntTag(), shifted)));
  return hn::MulAdd(p, power, constant(1.0F));
}

HWY_INLINE FloatVec logistic(FloatVec x) {
  return hn::Div(constant(1.0F), onePlusExponentialOfMinus(x));
}

// x / (1 + e^-x)
HWY_INLINE FloatVec sigmoidWeighted(FloatVec x) {
  return hn::Div(x, onePlusExponentialOfMinus(x));
}

// x times the share of the normal distribution below x, within 2.5e-7 |x|; for |x| above 5.6 exactly x or 0.
HWY_INLINE FloatVec normalWeighted(FloatVec x) {
  // Least relative error of erf(x / sqrt(2)) / 2x as a quotient of polynomials in x^2 on [-5.6, 5.6], raised by a unit
  // in the last place so that both ends reach 1/2.
  constexpr float kAbove[] = {0.3989422917366028F,     0.03392920270562172F,  0.0046773627400398254F,
                              0.00016893117572180927F, 6.28980296824011e-06F, 2.2297356849776406e-08F};
  constexpr float kBelow[] = {1.0F,
                              0.25171422958374023F,
                              0.02867765910923481F,
                              0.0018855028320103884F,
                              7.33448687242344e-05F,
                              1.1796571470767958e-06F};
  const FloatVec inside = atMost(atLeast(x, constant(-5.6F)), constant(5.6F));
  const FloatVec square = hn::Mul(inside, inside);
  const FloatVec quotient = hn::Div(hn::Mul(inside, polynomial(square, kAbove)), polynomial(square, kBelow));
  const FloatVec half = constant(0.5F);
  return hn::Mul(x, hn::Add(half, atMost(atLeast(quotient, hn::Neg(half)), half)));
}

HWY_INLINE FloatVec errorFunction(FloatVec x) {
  // Chebyshev interpolation of erf(x)/x in x^2 on [0, 1] and of -log(erfc(x)) on [1, 4].
  constexpr float kSmall[] = {1.1283791065216064F,   -0.3761262595653534F,  0.11283594369888306F,
                              -0.02685421146452427F, 0.005189087241888046F, -0.000801686430349946F,
                              7.875874871388078e-05F};
  constexpr float kLarge[] = {-0.0003201380604878068F, 1.1302334070205688F,    0.6318260431289673F,
                              0.11008008569478989F,    -0.026421135291457176F, 0.004759596195071936F,
                              -0.0005968056502752006F, 4.605804497259669e-05F, -1.6371513993362896e-06F};
  const FloatVec a = hn::Abs(x);
  const FloatVec small = hn::Mul(a, polynomial(hn::Mul(a, a), kSmall));
  const FloatVec clamped = atMost(a, constant(4.0F));
  const FloatVec large = hn::Sub(constant(1.0F), normalExponential(hn::Neg(polynomial(clamped, kLarge))));
  return hn::CopySign(hn::IfThenElse(hn::Gt(a, constant(1.0F)), large, small), x);
}

}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
