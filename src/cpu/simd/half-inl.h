// Vectors of float16 and bfloat16 to float32 and back, to nearest, ties to even. Included once per instruction set.

#if defined(TORCHTRT_KERNELS_COMMON_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TORCHTRT_KERNELS_COMMON_HALF_INL_H_
#undef TORCHTRT_KERNELS_COMMON_HALF_INL_H_
#else
#define TORCHTRT_KERNELS_COMMON_HALF_INL_H_
#endif

#include <algorithm>

#include "cpu/simd/math-inl.h"
#include "kernels/scalar/half.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {

struct Brain {
  using Tag = hn::Rebind<uint16_t, FloatTag>;

  static HWY_INLINE FloatVec widen(const uint16_t* from) {
    const hn::RebindToUnsigned<FloatTag> bits;
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(Tag(), from))));
  }
  static HWY_INLINE void narrow(FloatVec value, uint16_t* to) {
    const hn::RebindToUnsigned<FloatTag> unsigned_bits;
    const hn::RebindToSigned<FloatTag> signed_bits;
    const auto bits = hn::BitCast(unsigned_bits, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(unsigned_bits, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(unsigned_bits, 0x7fff))));
    const auto is_nan = hn::RebindMask(unsigned_bits, hn::IsNaN(value));
    const auto result = hn::IfThenElse(is_nan, hn::Set(unsigned_bits, 0x7fc0), rounded);
    hn::StoreU(hn::DemoteTo(Tag(), hn::BitCast(signed_bits, result)), Tag(), to);
  }
};

#if HWY_TARGET <= HWY_AVX2
struct Half {
  using Tag = hn::Rebind<hwy::float16_t, FloatTag>;

  static HWY_INLINE FloatVec widen(const uint16_t* from) {
    return hn::PromoteTo(FloatTag(), hn::LoadU(Tag(), reinterpret_cast<const hwy::float16_t*>(from)));
  }
  static HWY_INLINE void narrow(FloatVec value, uint16_t* to) {
    hn::StoreU(hn::DemoteTo(Tag(), value), Tag(), reinterpret_cast<hwy::float16_t*>(to));
  }
};
#else
// Highway rounds in ways of its own if it has no conversion instructions.
struct Half {
  static FloatVec widen(const uint16_t* from) {
    HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
    std::transform(from, from + hn::Lanes(FloatTag()), values, [](uint16_t bits) { return toFloat(Float16{bits}); });
    return hn::Load(FloatTag(), values);
  }
  static void narrow(FloatVec value, uint16_t* to) {
    HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(value, FloatTag(), values);
    std::transform(values, values + hn::Lanes(FloatTag()), to, [](float each) { return toFloat16(each).bits; });
  }
};
#endif

}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
