#include "cpu/storage/half_rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/storage/half_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cpu/simd/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

using D = FloatTag;

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
