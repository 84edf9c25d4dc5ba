#include "cpu/quantized/step_rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/quantized/step_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/quantized/steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::quantized::HWY_NAMESPACE {
namespace {

using D = StepFloats;

constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

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
  const ToSteps convert(quantizer);
  const auto some = [&](const float* values, uint8_t* steps)
                        HWY_ATTR { hn::StoreU(convert(hn::LoadU(D(), values)), StepBytes(), steps); };
  convertRow(some, from, static_cast<uint8_t*>(to), count);
}

template <typename Step>
void dequantizeRow(const Dequantizer& dequantizer, const void* from, float* to, int64_t count) {
  const FromSteps convert(dequantizer);
  const auto some = [&](const Step* steps, float* values) HWY_ATTR { hn::StoreU(convert(steps), D(), values); };
  convertRow(some, static_cast<const Step*>(from), to, count);
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
