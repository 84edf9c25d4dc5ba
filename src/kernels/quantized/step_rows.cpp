#include "kernels/quantized/step_rows.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantized/step_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::quantized::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using DU = hn::RebindToUnsigned<D>;

constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

// Added to a float of at most 2^22 it leaves the rounded number, half to even, in the lowest bits of the sum.
constexpr float kRounding = 12582912.0F;  // 1.5 * 2^23

// Rounding keeps the order of numbers, so clamping to whole numbers may come before it and before the zero point. What
// is left is one byte, whatever its sign.
struct ToSteps {
  hn::Vec<D> inverse_scale, low, high;
  hn::Vec<DU> zero_point;

  explicit HWY_INLINE ToSteps(const Quantizer& quantizer)
      : inverse_scale(hn::Set(D(), quantizer.inverse_scale)),
        low(hn::Set(D(), quantizer.low - quantizer.zero_point)),
        high(hn::Set(D(), quantizer.high - quantizer.zero_point)),
        zero_point(hn::Set(DU(), static_cast<uint32_t>(static_cast<int32_t>(quantizer.zero_point)))) {}

  HWY_INLINE void operator()(const float* from, uint8_t* to) const {
    const auto x = hn::Mul(hn::LoadU(D(), from), inverse_scale);
    const auto raised = hn::IfThenElse(hn::Ge(x, low), x, low);  // NaN is low
    const auto rounded = hn::Add(hn::Min(raised, high), hn::Set(D(), kRounding));
    const auto step = hn::Add(hn::BitCast(DU(), rounded), zero_point);
    hn::StoreU(hn::U8FromU32(hn::And(step, hn::Set(DU(), 0xFF))), hn::Rebind<uint8_t, D>(), to);
  }
};

template <typename Step>
struct FromSteps {
  hn::Vec<D> scale;
  hn::Vec<DI> zero_point;

  explicit HWY_INLINE FromSteps(const Dequantizer& dequantizer)
      : scale(hn::Set(D(), dequantizer.scale)), zero_point(hn::Set(DI(), dequantizer.zero_point)) {}

  HWY_INLINE void operator()(const Step* from, float* to) const {
    const auto step = hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<Step, D>(), from));
    hn::StoreU(hn::Mul(hn::ConvertTo(D(), hn::Sub(step, zero_point)), scale), D(), to);
  }
};

template <typename Convert, typename From, typename To>
HWY_INLINE void convertRow(const Convert& convert, const From* from, To* to, int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    convert(from + i, to + i);
  }
  if (i < count) {
    From rest[kMostLanes] = {};
    To values[kMostLanes];
    std::copy(from + i, from + count, rest);
    convert(rest, values);
    std::copy(values, values + (count - i), to + i);
  }
}

void quantizeRow(const Quantizer& quantizer, const float* from, void* to, int64_t count) {
  convertRow(ToSteps(quantizer), from, static_cast<uint8_t*>(to), count);
}

template <typename Step>
void dequantizeRow(const Dequantizer& dequantizer, const void* from, float* to, int64_t count) {
  convertRow(FromSteps<Step>(dequantizer), static_cast<const Step*>(from), to, count);
}

StepRows rowsOf(DType steps) {
  return {quantizeRow, steps == DType::kInt8 ? dequantizeRow<int8_t> : dequantizeRow<uint8_t>};
}

}  // namespace
}  // namespace torchtrt::kernels::quantized::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::quantized {

HWY_EXPORT(rowsOf);

StepRows stepRows(DType steps) {
  return HWY_DYNAMIC_DISPATCH(rowsOf)(steps);
}

}  // namespace torchtrt::kernels::quantized
#endif  // HWY_ONCE
