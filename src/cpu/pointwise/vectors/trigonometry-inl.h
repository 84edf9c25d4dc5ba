// Sine and cosine of vectors. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_POINTWISE_TRIGONOMETRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_POINTWISE_TRIGONOMETRY_INL_H_
#undef TORCHTRT_KERNELS_POINTWISE_TRIGONOMETRY_INL_H_
#else
#define TORCHTRT_KERNELS_POINTWISE_TRIGONOMETRY_INL_H_
#endif

#include <cmath>

#include "cpu/simd/math64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

// Up to here the quarter turns in x are so few that pi/2 in three floats leaves an exact remainder, if products are not
// rounded before they are subtracted; beyond, which is rare, and without fused products the C library takes each lane
// by itself.
inline constexpr float kFewTurns = 8192.0F;

// sin(x) where kQuarters is 0, cos(x) = sin(x + pi/2) where it is 1: within 2 units in the last place.
template <int kQuarters>
HWY_INLINE math::FloatVec sineOfFewTurns(math::FloatVec x) {
  const math::FloatTag d;
  const hn::RebindToSigned<math::FloatTag> di;
  const auto quarters = hn::Round(hn::Mul(x, math::constant(0.636619772F)));
  auto r = hn::NegMulAdd(quarters, math::constant(1.57079637F), x);
  r = hn::NegMulAdd(quarters, math::constant(-4.37113883e-8F), r);
  r = hn::NegMulAdd(quarters, math::constant(-1.71512451e-15F), r);
  const auto square = hn::Mul(r, r);
  // Taylor's polynomials with coefficients for [-pi/4, pi/4] (Moshier, Cephes).
  auto sine = hn::MulAdd(math::constant(-1.9515295891e-4F), square, math::constant(8.3321608736e-3F));
  sine = hn::MulAdd(sine, square, math::constant(-1.6666654611e-1F));
  sine = hn::MulAdd(hn::Mul(sine, square), r, r);
  auto cosine = hn::MulAdd(math::constant(2.443315711809948e-5F), square, math::constant(-1.388731625493765e-3F));
  cosine = hn::MulAdd(cosine, square, math::constant(4.166664568298827e-2F));
  cosine = hn::MulAdd(cosine, square, math::constant(-0.5F));
  cosine = hn::MulAdd(cosine, square, math::constant(1.0F));
  const auto turn = hn::Add(hn::ConvertTo(di, quarters), hn::Set(di, kQuarters));
  const auto odd = hn::TestBit(turn, hn::Set(di, 1));
  const auto value = hn::IfThenElse(hn::RebindMask(d, odd), cosine, sine);
  // Bit 1 of the turn is the sign.
  const auto sign = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(turn, hn::Set(di, 2))));
  const auto result = hn::Xor(value, sign);
  return kQuarters == 0 ? hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, result) : result;  // sin(-0) is -0
}

// The same in float64 up to 2^30.
template <int kQuarters>
HWY_INLINE math::DoubleVec sineOfFewTurns(math::DoubleVec x) {
  constexpr double kSine[] = {-1.66666666666666307295e-1, 8.33333333332211858878e-3,  -1.98412698295895385996e-4,
                              2.75573136213857245213e-6,  -2.50507477628578072866e-8, 1.58962301576546568060e-10};
  constexpr double kCosine[] = {4.16666666666665929218e-2,  -1.38888888888730564116e-3, 2.48015872888517045348e-5,
                                -2.75573141792967388112e-7, 2.08757008419747316778e-9,  -1.13585365213876817300e-11};
  const math::DoubleTag d;
  const math::Int64Tag di;
  hn::Vec<math::Int64Tag> n;
  const auto quarters = math::nearest(hn::Mul(x, math::constant(0.63661977236758134308)), n);
  auto r = hn::NegMulAdd(quarters, math::constant(1.5707963267948966), x);
  r = hn::NegMulAdd(quarters, math::constant(6.123233995736766e-17), r);
  r = hn::NegMulAdd(quarters, math::constant(-1.4973849048591698e-33), r);
  const auto square = hn::Mul(r, r);
  const auto sine = hn::MulAdd(hn::Mul(math::polynomial(square, kSine), square), r, r);
  const auto tail = hn::NegMulAdd(math::constant(0.5), square, math::constant(1.0));
  const auto cosine = hn::MulAdd(math::polynomial(square, kCosine), hn::Mul(square, square), tail);
  const auto turn = hn::Add(n, hn::Set(di, kQuarters));
  const auto odd = hn::TestBit(turn, hn::Set(di, 1));
  const auto value = hn::IfThenElse(hn::RebindMask(d, odd), cosine, sine);
  // Bit 1 of the turn is the sign.
  const auto sign = hn::BitCast(d, hn::ShiftLeft<62>(hn::And(turn, hn::Set(di, 2))));
  const auto result = hn::Xor(value, sign);
  return kQuarters == 0 ? hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, result) : result;  // sin(-0) is -0
}

template <int kQuarters, typename V>
HWY_INLINE V sine(V x) {
  using T = hn::TFromD<hn::DFromV<V>>;
  const hn::DFromV<V> d;
  const auto many = hn::Gt(hn::Abs(x), hn::Set(d, sizeof(T) == sizeof(float) ? T(kFewTurns) : T(0x1p30)));
  if (HWY_NATIVE_FMA && HWY_LIKELY(hn::AllFalse(d, many))) {
    return sineOfFewTurns<kQuarters>(x);
  }
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    lanes[i] = kQuarters == 0 ? std::sin(lanes[i]) : std::cos(lanes[i]);
  }
  return hn::Load(d, lanes);
}

}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
