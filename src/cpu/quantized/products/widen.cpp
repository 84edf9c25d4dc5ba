#include "cpu/quantized/products/widen.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/quantized/products/widen.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::quantized::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void widen(const WidenedRuns& runs) {
  const hn::ScalableTag<int16_t> d;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero_point = hn::Set(d, static_cast<int16_t>(runs.zero_point));
  const int64_t length = runs.length;
  int16_t* to = runs.to;
  for (int64_t run = 0; run < runs.count; ++run, to += length) {
    const T* from = static_cast<const T*>(runs.from) + runs.offsets[run];
    const auto some = [&](int64_t i) HWY_ATTR {
      hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, from + i)), zero_point), d, to + i);
    };
    int64_t i = 0;
    for (; i + lanes <= length; i += lanes) {
      some(i);
    }
    if (i < length && length >= lanes) {  // what is left, and some of what was done before
      some(length - lanes);
      continue;
    }
    for (; i < length; ++i) {
      to[i] = static_cast<int16_t>(from[i] - runs.zero_point);
    }
  }
}

void functionsForTarget(WidenFunction& of_int8, WidenFunction& of_uint8) {
  of_int8 = widen<int8_t>;
  of_uint8 = widen<uint8_t>;
}

}  // namespace
}  // namespace torchtrt::kernels::quantized::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::quantized {

HWY_EXPORT(functionsForTarget);

WidenFunction widenFunction(DType dtype) {
  WidenFunction of_int8 = nullptr;
  WidenFunction of_uint8 = nullptr;
  HWY_DYNAMIC_DISPATCH(functionsForTarget)(of_int8, of_uint8);
  return dtype == DType::kInt8 ? of_int8 : of_uint8;
}

}  // namespace torchtrt::kernels::quantized
#endif  // HWY_ONCE
