#include "kernels/common/half_rows.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/half_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/common/half.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

struct Brain {
  using Tag = hn::Rebind<uint16_t, D>;

  static HWY_INLINE V widen(const uint16_t* from) {
    const hn::RebindToUnsigned<D> bits;
    return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(Tag(), from))));
  }
  static HWY_INLINE void narrow(V value, uint16_t* to) {
    const hn::RebindToUnsigned<D> unsigned_bits;
    const hn::RebindToSigned<D> signed_bits;
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
  using Tag = hn::Rebind<hwy::float16_t, D>;

  static HWY_INLINE V widen(const uint16_t* from) {
    return hn::PromoteTo(D(), hn::LoadU(Tag(), reinterpret_cast<const hwy::float16_t*>(from)));
  }
  static HWY_INLINE void narrow(V value, uint16_t* to) {
    hn::StoreU(hn::DemoteTo(Tag(), value), Tag(), reinterpret_cast<hwy::float16_t*>(to));
  }
};
#else
// Without conversion instructions Highway rounds in ways of its own.
struct Half {
  static V widen(const uint16_t* from) {
    HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
    std::transform(from, from + hn::Lanes(D()), values, [](uint16_t bits) { return toFloat(Float16{bits}); });
    return hn::Load(D(), values);
  }
  static void narrow(V value, uint16_t* to) {
    HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(value, D(), values);
    std::transform(values, values + hn::Lanes(D()), to, [](float each) { return toFloat16(each).bits; });
  }
};
#endif

// The last values go through a vector of their own, so that a value's bits do not depend on where the row was cut.
template <typename Format>
void widenRow(const void* from, float* to, int64_t count) {
  const auto* source = static_cast<const uint16_t*>(from);
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(Format::widen(source + i), D(), to + i);
  }
  if (i < count) {
    uint16_t rest[HWY_MAX_BYTES / sizeof(float)] = {};
    float values[HWY_MAX_BYTES / sizeof(float)];
    std::copy(source + i, source + count, rest);
    hn::StoreU(Format::widen(rest), D(), values);
    std::copy(values, values + (count - i), to + i);
  }
}

template <typename Format>
void narrowRow(const float* from, void* to, int64_t count) {
  auto* target = static_cast<uint16_t*>(to);
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Format::narrow(hn::LoadU(D(), from + i), target + i);
  }
  if (i < count) {
    float rest[HWY_MAX_BYTES / sizeof(float)] = {};
    uint16_t values[HWY_MAX_BYTES / sizeof(float)];
    std::copy(from + i, from + count, rest);
    Format::narrow(hn::LoadU(D(), rest), values);
    std::copy(values, values + (count - i), target + i);
  }
}

HalfRows rowsOf(DType dtype) {
  if (dtype == DType::kFloat16) {
    return {widenRow<Half>, narrowRow<Half>};
  }
  return {widenRow<Brain>, narrowRow<Brain>};
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/check.h"

namespace torchtrt::kernels {

HWY_EXPORT(rowsOf);

HalfRows halfRows(DType dtype) {
  TORCHTRT_CHECK(isHalf(dtype), "rows of " << toString(dtype) << " are not 16-bit floating numbers");
  return HWY_DYNAMIC_DISPATCH(rowsOf)(dtype);
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
