#include "cpu/reduce/integer_rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduce/integer_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::reduce::HWY_NAMESPACE {
namespace {

constexpr int64_t kBlock = 32;  // elements: a whole number of vectors of every width, which the compiler makes of loops

// The unsigned type has at least 32 bits, since narrower ones are promoted to int.
template <typename T>
using Unsigned = std::make_unsigned_t<std::conditional_t<sizeof(T) < sizeof(int), int, T>>;

template <typename T>
struct Sum {
  static constexpr T kStart = 0;
  static HWY_INLINE T apply(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  }
};
template <typename T>
struct Prod {
  static constexpr T kStart = 1;
  static HWY_INLINE T apply(T a, T b) {
    return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
  }
};
template <typename T>
struct Max {
  static constexpr T kStart = std::numeric_limits<T>::min();
  static HWY_INLINE T apply(T a, T b) {
    return a < b ? b : a;
  }
};
template <typename T>
struct Min {
  static constexpr T kStart = std::numeric_limits<T>::max();
  static HWY_INLINE T apply(T a, T b) {
    return b < a ? b : a;
  }
};

template <typename T, typename Op>
HWY_INLINE void foldBlock(const T* HWY_RESTRICT values, T* HWY_RESTRICT totals) {
  for (int64_t j = 0; j < kBlock; ++j) {
    totals[j] = Op::apply(totals[j], values[j]);
  }
}

template <typename T, typename Op>
void foldColumns(const T* HWY_RESTRICT values, T* HWY_RESTRICT totals, int64_t count) {
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    foldBlock<T, Op>(values + i, totals + i);
  }
  for (; i < count; ++i) {
    totals[i] = Op::apply(totals[i], values[i]);
  }
}

template <typename T, typename Op>
T foldRow(const T* HWY_RESTRICT values, int64_t count, T total) {
  HWY_ALIGN T totals[kBlock];
  for (T& each : totals) {
    each = Op::kStart;
  }
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    foldBlock<T, Op>(values + i, totals);
  }
  for (; i < count; ++i) {
    total = Op::apply(total, values[i]);
  }
  for (const T each : totals) {
    total = Op::apply(total, each);
  }
  return total;
}

template <typename T, template <typename> typename Op>
constexpr IntegerFolds<T> kFolds = {foldColumns<T, Op<T>>, foldRow<T, Op<T>>, Op<T>::kStart};

template <typename T>
IntegerFolds<T> foldsOf(std::string_view op) {
  return op == "sum"    ? kFolds<T, Sum>
         : op == "prod" ? kFolds<T, Prod>
         : op == "max"  ? kFolds<T, Max>
         : op == "min"  ? kFolds<T, Min>
                        : IntegerFolds<T>{};
}

IntegerFolds<int64_t> foldsOfInt64(std::string_view op) {
  return foldsOf<int64_t>(op);
}
IntegerFolds<int32_t> foldsOfInt32(std::string_view op) {
  return foldsOf<int32_t>(op);
}
IntegerFolds<int16_t> foldsOfInt16(std::string_view op) {
  return foldsOf<int16_t>(op);
}
IntegerFolds<int8_t> foldsOfInt8(std::string_view op) {
  return foldsOf<int8_t>(op);
}
IntegerFolds<uint8_t> foldsOfUInt8(std::string_view op) {
  return foldsOf<uint8_t>(op);
}

}  // namespace
}  // namespace torchtrt::kernels::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::reduce {

HWY_EXPORT(foldsOfInt64);
HWY_EXPORT(foldsOfInt32);
HWY_EXPORT(foldsOfInt16);
HWY_EXPORT(foldsOfInt8);
HWY_EXPORT(foldsOfUInt8);

template <>
IntegerFolds<int64_t> integerFolds(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(foldsOfInt64)(op);
}
template <>
IntegerFolds<int32_t> integerFolds(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(foldsOfInt32)(op);
}
template <>
IntegerFolds<int16_t> integerFolds(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(foldsOfInt16)(op);
}
template <>
IntegerFolds<int8_t> integerFolds(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(foldsOfInt8)(op);
}
template <>
IntegerFolds<uint8_t> integerFolds(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(foldsOfUInt8)(op);
}

}  // namespace torchtrt::kernels::reduce
#endif  // HWY_ONCE
