// Functions of float32 and float64 vectors that pointwise layers alone have, in the form rows.cpp maps over rows: as
// near to the value as those of math-inl.h, and in float64 within 3 units in the last place (erfc: 4.1).
// Included once per instruction set.

#if defined(TORCHTRT_KERNELS_POINTWISE_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_POINTWISE_FUNCTIONS_INL_H_
#undef TORCHTRT_KERNELS_POINTWISE_FUNCTIONS_INL_H_
#else
#define TORCHTRT_KERNELS_POINTWISE_FUNCTIONS_INL_H_
#endif

#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "cpu/pointwise/vectors/trigonometry-inl.h"
#include "cpu/simd/math64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

template <typename V>
HWY_INLINE V all(hn::TFromV<V> value) {
  return hn::Set(hn::DFromV<V>(), value);
}

template <typename V>
inline constexpr auto kPi = std::numbers::pi_v<hn::TFromV<V>>;

struct Sign {  // 0 for NaN, as PyTorch
  template <typename V>
  static HWY_INLINE V apply(V x) {
    const V one = all<V>(1);
    const V zero = all<V>(0);
    return hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one), hn::IfThenElseZero(hn::Lt(x, zero), one));
  }
};
struct Frac {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Sub(x, hn::Trunc(x));
  }
};

struct Tan {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Div(sine<0>(x), sine<1>(x));
  }
};

// (asin(s) - s) / s^3 where z = s * s, for s in [0, 1/2] (Moshier, Cephes; in float64 by Chebyshev interpolation).
HWY_INLINE math::FloatVec arcSineTail(math::FloatVec z) {
  constexpr float kTerms[] = {1.6666752422e-1F, 7.4953002686e-2F, 4.5470025998e-2F, 2.4181311049e-2F, 4.2163199048e-2F};
  return math::polynomial(z, kTerms);
}
HWY_INLINE math::DoubleVec arcSineTail(math::DoubleVec z) {
  constexpr double kTerms[] = {0.1666666666666665,   0.07500000000020764,   0.044642857103423646,
                               0.03038194736709848,  0.02237204763174451,   0.017355259955786323,
                               0.013929652902326633, 0.011875494382636922,  0.0078029494773533175,
                               0.01603551434914882,  -0.010749050339697808, 0.028169218060881414};
  return math::polynomial(z, kTerms);
}
// asin(|x|) for |x| up to 1/2. Above, where `outer` is, asin(|x|) is pi/2 - 2 asin(s), and acos(|x|) 2 asin(s), where
// s * s = (1 - |x|) / 2: asin(s) then; NaN beyond 1.
template <typename V, typename Mask>
HWY_INLINE V foldedArcSine(V x, Mask& outer) {
  const V half = all<V>(hn::TFromV<V>(0.5));
  const V a = hn::Abs(x);
  outer = hn::Gt(a, half);
  const V z = hn::IfThenElse(outer, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
  const V s = hn::IfThenElse(outer, hn::Sqrt(z), a);
  return hn::MulAdd(hn::Mul(arcSineTail(z), z), s, s);
}
struct Asin {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    decltype(hn::Gt(x, x)) outer;
    const V r = foldedArcSine(x, outer);
    const V far = hn::NegMulAdd(all<V>(2), r, all<V>(kPi<V> / 2));
    return hn::Or(hn::IfThenElse(outer, far, r), hn::And(x, all<V>(hn::TFromV<V>(-0.0))));
  }
};
struct Acos {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    decltype(hn::Gt(x, x)) outer;
    const V r = foldedArcSine(x, outer);
    const V twice = hn::Add(r, r);
    const V far = hn::IfThenElse(hn::Lt(x, all<V>(0)), hn::Sub(all<V>(kPi<V>), twice), twice);
    return hn::IfThenElse(outer, far, hn::Sub(all<V>(kPi<V> / 2), hn::CopySign(r, x)));
  }
};

// (atan(s) - s) / s^3 where z = s * s, for s up to tan(pi/8) (as above).
HWY_INLINE math::FloatVec arcTangentTail(math::FloatVec z) {
  constexpr float kTerms[] = {-3.33329491539e-1F, 1.99777106478e-1F, -1.38776856032e-1F, 8.05374449538e-2F};
  return math::polynomial(z, kTerms);
}
HWY_INLINE math::DoubleVec arcTangentTail(math::DoubleVec z) {
  constexpr double kTerms[] = {-0.3333333333333333,  0.1999999999999552,  -0.14285714284666542, 0.11111111015256361,
                               -0.09090904578123903, 0.07692183190826087, -0.06664511447381948, 0.0585814891280221,
                               -0.0508544973794026,  0.03923165829558719, -0.01917688711906226};
  return math::polynomial(z, kTerms);
}
// atan(x) for x >= 0: beyond tan(pi/8) around 1, beyond tan(3 pi/8) around infinity.
template <typename V>
HWY_INLINE V positiveArcTangent(V x) {
  using T = hn::TFromV<V>;
  const V one = all<V>(1);
  const auto middle = hn::Gt(x, all<V>(T(0.414213562373095)));
  const auto far = hn::Gt(x, all<V>(T(2.414213562373095)));
  const V above = hn::IfThenElse(far, all<V>(-1), hn::Sub(x, one));
  const V below = hn::IfThenElse(far, x, hn::Add(x, one));
  const V reduced = hn::IfThenElse(middle, hn::Div(above, below), x);
  const V base = hn::IfThenElseZero(middle, hn::IfThenElse(far, all<V>(kPi<V> / 2), all<V>(kPi<V> / 4)));
  const V z = hn::Mul(reduced, reduced);
  return hn::Add(base, hn::MulAdd(hn::Mul(arcTangentTail(z), z), reduced, reduced));
}
struct Atan {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::CopySign(positiveArcTangent(hn::Abs(x)), x);
  }
};
struct Atan2 {
  template <typename V>
  static HWY_INLINE V apply(V y, V x) {
    const V zero = all<V>(0);
    const V ax = hn::Abs(x);
    const V ay = hn::Abs(y);
    const auto steep = hn::Gt(ay, ax);
    const V large = hn::IfThenElse(steep, ay, ax);
    const V small = hn::IfThenElse(steep, ax, ay);
    // Two zeros lie along the axis, two infinities between both.
    V ratio = hn::IfThenElse(hn::Eq(large, zero), zero, hn::Div(small, large));
    ratio = hn::IfThenElse(hn::Eq(small, all<V>(std::numeric_limits<hn::TFromV<V>>::infinity())), all<V>(1), ratio);
    V angle = positiveArcTangent(ratio);
    angle = hn::IfThenElse(steep, hn::Sub(all<V>(kPi<V> / 2), angle), angle);
    angle = hn::IfThenElse(hn::Lt(hn::CopySign(all<V>(1), x), zero), hn::Sub(all<V>(kPi<V>), angle), angle);
    const auto invalid = hn::Or(hn::IsNaN(x), hn::IsNaN(y));
    return hn::IfThenElse(invalid, hn::Add(x, y), hn::CopySign(angle, y));
  }
};

// e^a / 2 for a above 80, where e^a may be too large and e^-a is nothing beside it.
template <typename V>
HWY_INLINE V halfOfLargeExponential(V a) {
  const V half = all<V>(hn::TFromV<V>(0.5));
  const V root = math::exponential(hn::Mul(a, half));
  return hn::Mul(hn::Mul(root, half), root);
}
struct Sinh {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    const V a = hn::Abs(x);
    const V t = math::exponentialMinus1(a);
    const V near = hn::Mul(all<V>(hn::TFromV<V>(0.5)), hn::Add(t, hn::Div(t, hn::Add(t, all<V>(1)))));
    return hn::CopySign(hn::IfThenElse(hn::Gt(a, all<V>(80)), halfOfLargeExponential(a), near), x);
  }
};
struct Cosh {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    const V half = all<V>(hn::TFromV<V>(0.5));
    const V a = hn::Abs(x);
    const V t = math::exponential(a);
    const V near = hn::MulAdd(half, t, hn::Div(half, t));
    return hn::IfThenElse(hn::Gt(a, all<V>(80)), halfOfLargeExponential(a), near);
  }
};

// From here on 1 is nothing beside a square, which may be too large.
inline constexpr int64_t kLargeSquare = int64_t{1} << 60;

struct Asinh {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    const V one = all<V>(1);
    const V a = hn::Abs(x);
    const V square = hn::Mul(a, a);
    const V near = hn::Add(a, hn::Div(square, hn::Add(hn::Sqrt(hn::Add(square, one)), one)));
    const auto far = hn::Gt(a, all<V>(kLargeSquare));
    const V value = math::logarithm1p(hn::IfThenElse(far, a, near));
    return hn::CopySign(hn::IfThenElse(far, hn::Add(value, all<V>(std::numbers::ln2_v<hn::TFromV<V>>)), value), x);
  }
};
struct Acosh {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    const V t = hn::Sub(x, all<V>(1));
    const V near = hn::Add(t, hn::Sqrt(hn::MulAdd(t, t, hn::Add(t, t))));
    const auto far = hn::Gt(x, all<V>(kLargeSquare));
    const V value = math::logarithm1p(hn::IfThenElse(far, t, near));
    const V result = hn::IfThenElse(far, hn::Add(value, all<V>(std::numbers::ln2_v<hn::TFromV<V>>)), value);
    return hn::IfThenElse(hn::Lt(x, all<V>(1)), all<V>(std::numeric_limits<hn::TFromV<V>>::quiet_NaN()), result);
  }
};
struct Atanh {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    const V a = hn::Abs(x);
    const V value = math::logarithm1p(hn::Div(hn::Add(a, a), hn::Sub(all<V>(1), a)));
    return hn::CopySign(hn::Mul(all<V>(hn::TFromV<V>(0.5)), value), x);
  }
};

// erfc(|x|) is e^(-x^2) / (1 + 2 |x|) times a polynomial in (|x| - k) / (|x| + k), by Chebyshev interpolation; beyond
// `most` it is 0.
struct Erfc {
  static HWY_INLINE math::FloatVec apply(math::FloatVec x) {
    constexpr float kTerms[] = {1.2769783735275269F,     -0.0927639827132225F,  -0.16603046655654907F,
                                0.16405561566352844F,    -0.05421322211623192F, -0.008063874207437038F,
                                0.008658469654619694F,   0.001330044586211443F, -0.0012554138666018844F,
                                -0.00042006230796687305F};
    return of(x, 2.0F, 10.5F, kTerms);
  }
  static HWY_INLINE math::DoubleVec apply(math::DoubleVec x) {
    constexpr double kTerms[] = {
        1.2329951186255526,     -0.13962111684056255,    0.015379652102606133,    0.06809705425470212,
        -0.10103906603558063,   0.09373283499798463,     -0.06633036582729279,    0.03716751554242076,
        -0.016197733895959854,  0.005031969952329153,    -0.0007577743061693371,  -0.00019925669640425623,
        0.00015062567141369432, -2.4398609353512906e-05, -1.1232086023404734e-05, 5.706827475068264e-06,
        3.0994402010831546e-07, -8.187662562915786e-07,  5.883230632914435e-08,   1.0181247475149971e-07,
        -9.456271524915692e-09, -8.906208663934622e-09};
    return of(x, 4.0, 28.0, kTerms);
  }

 private:
  template <typename V, typename T, size_t kCount>
  static HWY_INLINE V of(V x, T k, T most, const T (&terms)[kCount]) {
    const V one = all<V>(1);
    const V a = math::atMost(hn::Abs(x), all<V>(most));
    const V t = hn::Div(hn::Sub(a, all<V>(k)), hn::Add(a, all<V>(k)));
    const V scaled = hn::Div(math::polynomial(t, terms), hn::MulAdd(a, all<V>(2), one));
    // The square's rounding error counts, as the square is large: the result is multiplied by e^-lost = 1 - lost.
    const V square = hn::Mul(a, a);
    const V lost = HWY_NATIVE_FMA ? hn::MulSub(a, a, square) : all<V>(0);
    const V value = hn::Mul(hn::NegMulAdd(lost, scaled, scaled), math::exponential(hn::Neg(square)));
    return hn::IfThenElse(hn::Lt(x, all<V>(0)), hn::Sub(all<V>(2), value), value);
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
  static HWY_INLINE math::DoubleVec apply(math::DoubleVec x) {
    const auto inside = math::atMost(math::atLeast(x, math::constant(-1077.0)), math::constant(1025.0));
    hn::Vec<math::Int64Tag> n, half;
    const auto whole = math::nearest(inside, n);
    math::nearest(hn::Mul(whole, math::constant(0.5)), half);
    const auto rest = math::exponential(hn::Mul(hn::Sub(inside, whole), math::constant(std::numbers::ln2)));
    return hn::Mul(hn::Mul(rest, math::powerOfTwo64(half)), math::powerOfTwo64(hn::Sub(n, half)));
  }
};

// ln m where x = 2^e m with m in [sqrt(1/2), sqrt(2)), x positive.
HWY_INLINE math::FloatVec logarithmOfMantissa(math::FloatVec x, math::FloatVec& e) {
  const math::FloatTag d;
  const math::IntTag di;
  const auto tiny = hn::Lt(x, math::constant(std::numeric_limits<float>::min()));
  const auto scaled = hn::IfThenElse(tiny, hn::Mul(x, math::constant(0x1p23F)), x);
  const auto root = hn::Set(di, 0x3F3504F3);
  const auto shifted = hn::Sub(hn::BitCast(di, scaled), root);
  const auto mantissa = hn::BitCast(d, hn::Add(hn::And(shifted, hn::Set(di, 0x007FFFFF)), root));
  e = hn::Sub(hn::ConvertTo(d, hn::ShiftRight<23>(shifted)), hn::IfThenElseZero(tiny, math::constant(23.0F)));
  return math::logarithm(mantissa);
}
HWY_INLINE math::DoubleVec logarithmOfMantissa(math::DoubleVec x, math::DoubleVec& e) {
  const auto f = math::splitMinus1(x, e);
  return math::reducedLogarithm(f, math::constant(0.0), math::constant(0.0));
}
// Powers of the base are whole numbers to the bit.
struct Log2 {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    V e;
    const V rest = logarithmOfMantissa(x, e);
    return math::withEnds(x, hn::MulAdd(rest, all<V>(std::numbers::log2e_v<hn::TFromV<V>>), e));
  }
};
struct Log10 {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    // log10(2) in two parts, the first with so few bits that its products with exponents are exact.
    constexpr bool kIsFloat = std::is_same_v<hn::TFromV<V>, float>;
    constexpr hn::TFromV<V> kHigh = kIsFloat ? 0.301025390625 : 0.3010299950838089;
    constexpr hn::TFromV<V> kLow = kIsFloat ? 4.605038981195214e-06 : 5.801722962879576e-10;
    V e;
    const V rest = logarithmOfMantissa(x, e);
    const V low = hn::MulAdd(rest, all<V>(std::numbers::log10e_v<hn::TFromV<V>>), hn::Mul(e, all<V>(kLow)));
    return math::withEnds(x, hn::MulAdd(e, all<V>(kHigh), low));
  }
};

}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
