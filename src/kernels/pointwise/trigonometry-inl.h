// Sine and cosine of vectors. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_POINTWISE_TRIGONOMETRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_POINTWISE_TRIGONOMETRY_INL_H_
#undef TORCHTRT_KERNELS_POINTWISE_TRIGONOMETRY_INL_H_
#else
#define TORCHTRT_KERNELS_POINTWISE_TRIGONOMETRY_INL_H_
#endif

#include <cmath>

#include "kernels/common/math-inl.h"

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

template <int kQuarters>
HWY_INLINE math::FloatVec sine(math::FloatVec x) {
  const math::FloatTag d;
  if (HWY_NATIVE_FMA && HWY_LIKELY(hn::AllFalse(d, hn::Gt(hn::Abs(x), math::constant(kFewTurns))))) {
    return sineOfFewTurns<kQuarters>(x);
  }
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    lanes[i] = kQuarters == 0 ? std::sin(lanes[i]) : std::cos(lanes[i]);
  }
  return hn::Load(d, lanes);
}

}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
