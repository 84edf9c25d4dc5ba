// Quotients and remainders of integers through float64, or float32 for those of 8 and 16 bits: several at a time, where
// integers take turns.
#include "cpu/pointwise/rows/typed_rows.h"
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pointwise/rows/division_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/scalar/integer_math.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using Integers = hn::RebindToSigned<D>;
using Unsigned = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<Integers>;

constexpr double kShift = 6755399441055744.0;       // 1.5 * 2^52: added to a small integer, its bits end with it
constexpr int64_t kShiftBits = 0x4338000000000000;  // of kShift
constexpr int64_t kSmall = int64_t{1} << 51;        // |integers| below it are small

VI load(const int64_t* from) {
  return hn::LoadU(Integers(), from);
}
VI load(const int32_t* from) {
  return hn::PromoteTo(Integers(), hn::LoadU(hn::Rebind<int32_t, D>(), from));
}
void store(VI values, int64_t* to) {
  hn::StoreU(values, Integers(), to);
}
// Wraps.
void store(VI values, int32_t* to) {
  const hn::Rebind<uint32_t, D> narrow;
  hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(Unsigned(), values)), narrow, reinterpret_cast<uint32_t*>(to));
}

bool areSmall(VI values) {
  const auto shifted = hn::BitCast(Unsigned(), hn::Add(values, hn::Set(Integers(), kSmall)));
  return hn::AllTrue(Unsigned(), hn::Lt(shifted, hn::Set(Unsigned(), uint64_t{2} * kSmall)));
}
V toDouble(VI small) {
  return hn::Sub(hn::BitCast(D(), hn::Add(small, hn::Set(Integers(), kShiftBits))), hn::Set(D(), kShift));
}
VI toInteger(V small) {
  return hn::Sub(hn::BitCast(Integers(), hn::Add(small, hn::Set(D(), kShift))), hn::Set(Integers(), kShiftBits));
}

// Those of 8 and 16 bits: all of them are small in float32.
using Narrow = hn::ScalableTag<float>;
using Lanes32 = hn::RebindToSigned<Narrow>;

template <typename T>
hn::Vec<Narrow> loadNarrow(const T* from) {
  return hn::ConvertTo(Narrow(), hn::PromoteTo(Lanes32(), hn::LoadU(hn::Rebind<T, Narrow>(), from)));
}
// Wraps.
template <typename T>
void storeNarrow(hn::Vec<Narrow> values, T* to) {
  using Bits = std::make_unsigned_t<T>;
  const hn::Rebind<Bits, Narrow> narrow;
  const auto bits = hn::BitCast(hn::RebindToUnsigned<Narrow>(), hn::ConvertTo(Lanes32(), values));
  hn::StoreU(hn::TruncateTo(narrow, bits), narrow, reinterpret_cast<Bits*>(to));
}

// The quotient of small integers is off by less than a quarter of the distance between two quotients of one divisor, so
// its integer part is right; products of it with the divisor are exact.
struct FloorDivide {
  template <typename Vec>
  static HWY_INLINE Vec apply(Vec a, Vec b) {
    return hn::Floor(hn::Div(a, b));
  }
  static int64_t apply(int64_t a, int64_t b) {
    return floorDivide(a, b);
  }
};
struct TruncatedDivide {
  template <typename Vec>
  static HWY_INLINE Vec apply(Vec a, Vec b) {
    return hn::Trunc(hn::Div(a, b));
  }
  static int64_t apply(int64_t a, int64_t b) {
    return truncatedDivide(a, b);
  }
};
struct FloorModulo {
  template <typename Vec>
  static HWY_INLINE Vec apply(Vec a, Vec b) {
    return hn::Sub(a, hn::Mul(FloorDivide::apply(a, b), b));
  }
  static int64_t apply(int64_t a, int64_t b) {
    return floorModulo(a, b);
  }
};
struct TruncatedModulo {
  template <typename Vec>
  static HWY_INLINE Vec apply(Vec a, Vec b) {
    return hn::Sub(a, hn::Mul(TruncatedDivide::apply(a, b), b));
  }
  static int64_t apply(int64_t a, int64_t b) {
    return truncatedModulo(a, b);
  }
};

// out[i] = op(a[i], b[i]), `lanes` at a time where vectors(i) can do it.
template <typename T, typename Op, typename Vectors>
HWY_INLINE void divideEach(const TypedRow& row, int64_t lanes, Vectors vectors) {
  const auto* a = static_cast<const T*>(row.in[0]);
  const auto* b = static_cast<const T*>(row.in[1]);
  auto* out = static_cast<T*>(row.out);
  const auto scalar = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[i] = static_cast<T>(Op::apply(int64_t{a[i * row.steps[0]]}, int64_t{b[i * row.steps[1]]}));
    }
  };
  int64_t i = 0;
  for (; i + lanes <= row.count; i += lanes) {
    if (!vectors(i)) {
      scalar(i, i + lanes);
    }
  }
  scalar(i, row.count);
}

template <typename T, typename Op>
void divideNarrowRow(const TypedRow& row) {
  const auto* a = static_cast<const T*>(row.in[0]);
  const auto* b = static_cast<const T*>(row.in[1]);
  auto* out = static_cast<T*>(row.out);
  const auto whole_a = hn::Set(Narrow(), static_cast<float>(*a));
  const auto whole_b = hn::Set(Narrow(), static_cast<float>(*b));
  divideEach<T, Op>(row, static_cast<int64_t>(hn::Lanes(Narrow())), [&](int64_t i) HWY_ATTR {
    const auto x = row.steps[0] == 0 ? whole_a : loadNarrow(a + i);
    const auto y = row.steps[1] == 0 ? whole_b : loadNarrow(b + i);
    const bool divides = hn::AllTrue(Narrow(), hn::Ne(y, hn::Zero(Narrow())));
    if (divides) {
      storeNarrow(Op::apply(x, y), out + i);
    }
    return divides;
  });
}

template <typename T, typename Op>
void divideRow(const TypedRow& row) {
  const auto* a = static_cast<const T*>(row.in[0]);
  const auto* b = static_cast<const T*>(row.in[1]);
  auto* out = static_cast<T*>(row.out);
  const VI whole_a = hn::Set(Integers(), *a);
  const VI whole_b = hn::Set(Integers(), *b);
  divideEach<T, Op>(row, static_cast<int64_t>(hn::Lanes(D())), [&](int64_t i) HWY_ATTR {
    const VI x = row.steps[0] == 0 ? whole_a : load(a + i);
    const VI y = row.steps[1] == 0 ? whole_b : load(b + i);
    const bool fits = areSmall(x) && areSmall(y) && hn::AllTrue(Integers(), hn::Ne(y, hn::Zero(Integers())));
    if (fits) {
      store(toInteger(Op::apply(toDouble(x), toDouble(y))), out + i);
    }
    return fits;
  });
}

template <typename T, typename Op>
void divide(const TypedRow& row) {
  if constexpr (sizeof(T) < sizeof(int32_t)) {
    divideNarrowRow<T, Op>(row);
  } else {
    divideRow<T, Op>(row);
  }
}

template <typename T>
TypedRowFunction rowOf(std::string_view op) {
  return op == "floor_div"   ? divide<T, FloorDivide>
         : op == "trunc_div" ? divide<T, TruncatedDivide>
         : op == "mod"       ? divide<T, FloorModulo>
         : op == "fmod"      ? divide<T, TruncatedModulo>
                             : nullptr;
}

TypedRowFunction divisionForTarget(std::string_view op, DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return rowOf<int64_t>(op);
    case DType::kInt32:
      return rowOf<int32_t>(op);
    case DType::kInt16:
      return rowOf<int16_t>(op);
    case DType::kInt8:
      return rowOf<int8_t>(op);
    case DType::kUInt8:
      return rowOf<uint8_t>(op);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::pointwise {

HWY_EXPORT(divisionForTarget);

TypedRowFunction findDivisionRow(std::string_view op, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(divisionForTarget)(op, dtype);
}

}  // namespace torchtrt::kernels::pointwise
#endif  // HWY_ONCE
