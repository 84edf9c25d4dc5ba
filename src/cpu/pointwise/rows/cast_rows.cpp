#include "cpu/pointwise/rows/typed_rows.h"
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pointwise/rows/cast_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>
#include <type_traits>

#include "cpu/simd/each-inl.h"
#include "cpu/storage/bool_byte.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace each = kernels::HWY_NAMESPACE;

// Truncates as x86's conversion instructions do: all that does not fit becomes the smallest integer.
template <typename Integer, typename T>
HWY_INLINE Integer truncateTo(T value) {
  constexpr T kLimit = static_cast<T>(uint64_t{1} << (8 * sizeof(Integer) - 1));
  return value >= -kLimit && value < kLimit ? static_cast<Integer>(value) : std::numeric_limits<Integer>::min();
}

// common/convert.h's rules. Integers of all widths go through int64, which changes no value.
template <typename To, typename From>
HWY_INLINE To converted(From value) {
  if constexpr (std::is_same_v<From, BoolByte>) {
    return converted<To>(static_cast<uint8_t>(value.byte != 0));
  } else if constexpr (std::is_same_v<To, BoolByte>) {
    return {static_cast<uint8_t>(value != 0)};
  } else if constexpr (std::is_floating_point_v<To> || std::is_integral_v<From>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, uint8_t> || std::is_same_v<To, int64_t>) {
    return static_cast<To>(truncateTo<int64_t>(value));
  } else {
    return static_cast<To>(truncateTo<int32_t>(value));
  }
}

// float32 to the integers whose low bits those of int32 are. Compilers make no vectors of it: the comparisons guard the
// conversion. uint8 goes through int64 by the rules, but floats beyond int32 are multiples of 256.
template <typename To>
HWY_INLINE int64_t truncateVectors(const float* in, To* out, int64_t count) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<std::make_unsigned_t<To>, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto limit = hn::Set(d, 2147483648.0F);
  const auto least = hn::Set(integers, std::numeric_limits<int32_t>::min());
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(d, in + i);
    const auto fits = hn::And(hn::Lt(value, limit), hn::Ge(value, hn::Neg(limit)));
    const auto kept = hn::ConvertTo(integers, hn::IfThenElseZero(fits, value));
    const auto result = hn::BitCast(bits, hn::IfThenElse(hn::RebindMask(integers, fits), kept, least));
    auto* to = reinterpret_cast<std::make_unsigned_t<To>*>(out + i);
    if constexpr (sizeof(To) == sizeof(int32_t)) {
      hn::StoreU(result, bits, to);
    } else {
      hn::StoreU(hn::TruncateTo(narrow, result), narrow, to);
    }
  }
  return i;
}

template <typename From, typename To>
void castRow(const TypedRow& row) {
  const auto* in = static_cast<const From*>(row.in[0]);
  auto* out = static_cast<To*>(row.out);
  int64_t done = 0;
  if constexpr (std::is_same_v<From, float> && std::is_integral_v<To> && sizeof(To) <= sizeof(int32_t)) {
    done = truncateVectors(in, out, row.count);
  }
  each::eachOf(in + done, out + done, row.count - done, [](From value) HWY_ATTR { return converted<To>(value); });
}

template <typename From>
TypedRowFunction castTo(DType to) {
  switch (to) {
    case DType::kFloat32:
      return castRow<From, float>;
    case DType::kFloat64:
      return castRow<From, double>;
    case DType::kInt32:
      return castRow<From, int32_t>;
    case DType::kInt64:
      return castRow<From, int64_t>;
    case DType::kInt16:
      return castRow<From, int16_t>;
    case DType::kInt8:
      return castRow<From, int8_t>;
    case DType::kUInt8:
      return castRow<From, uint8_t>;
    case DType::kBool:
      return castRow<From, BoolByte>;
    default:
      return nullptr;
  }
}

TypedRowFunction castForTarget(DType from, DType to) {
  switch (from) {
    case DType::kFloat32:
      return castTo<float>(to);
    case DType::kFloat64:
      return castTo<double>(to);
    case DType::kInt32:
      return castTo<int32_t>(to);
    case DType::kInt64:
      return castTo<int64_t>(to);
    case DType::kInt16:
      return castTo<int16_t>(to);
    case DType::kInt8:
      return castTo<int8_t>(to);
    case DType::kUInt8:
      return castTo<uint8_t>(to);
    case DType::kBool:
      return castTo<BoolByte>(to);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::pointwise {

HWY_EXPORT(castForTarget);

TypedRowFunction findCastRow(DType from, DType to) {
  return HWY_DYNAMIC_DISPATCH(castForTarget)(from, to);
}

}  // namespace torchtrt::kernels::pointwise
#endif  // HWY_ONCE
