// Quotients and remainders of integers through float64, which divides four at a time where integers take turns.
#include "kernels/common/targets.h"
#include "kernels/pointwise/typed_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/division_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/common/integer_math.h"

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

// The quotient of small integers in float64 is off by less than a quarter of the distance between two quotients of one
// divisor, so its integer part is right; products of it with the divisor are exact.
struct FloorDivide {
  static HWY_INLINE V apply(V a, V b) {
    return hn::Floor(hn::Div(a, b));
  }
  static int64_t apply(int64_t a, int64_t b) {
    return floorDivide(a, b);
  }
};
struct TruncatedDivide {
  static HWY_INLINE V apply(V a, V b) {
    return hn::Trunc(hn::Div(a, b));
  }
  static int64_t apply(int64_t a, int64_t b) {
    return truncatedDivide(a, b);
  }
};
struct FloorModulo {
  static HWY_INLINE V apply(V a, V b) {
    return hn::Sub(a, hn::Mul(FloorDivide::apply(a, b), b));
  }
  static int64_t apply(int64_t a, int64_t b) {
    return floorModulo(a, b);
  }
};
struct TruncatedModulo {
  static HWY_INLINE V apply(V a, V b) {
    return hn::Sub(a, hn::Mul(TruncatedDivide::apply(a, b), b));
  }
  static int64_t apply(int64_t a, int64_t b) {
    return truncatedModulo(a, b);
  }
};

template <typename T, typename Op>
void divideRow(const TypedRow& row) {
  const auto* a = static_cast<const T*>(row.in[0]);
  const auto* b = static_cast<const T*>(row.in[1]);
  auto* out = static_cast<T*>(row.out);
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const auto scalar = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[i] = static_cast<T>(Op::apply(int64_t{a[i * row.steps[0]]}, int64_t{b[i * row.steps[1]]}));
    }
  };
  const VI whole_a = hn::Set(Integers(), *a);
  const VI whole_b = hn::Set(Integers(), *b);
  int64_t i = 0;
  for (; i + lanes <= row.count; i += lanes) {
    const VI x = row.steps[0] == 0 ? whole_a : load(a + i);
    const VI y = row.steps[1] == 0 ? whole_b : load(b + i);
    if (areSmall(x) && areSmall(y) && hn::AllTrue(Integers(), hn::Ne(y, hn::Zero(Integers())))) {
      store(toInteger(Op::apply(toDouble(x), toDouble(y))), out + i);
    } else {
      scalar(i, i + lanes);
    }
  }
  scalar(i, row.count);
}

template <typename T>
TypedRowFunction rowOf(std::string_view op) {
  return op == "floor_div"   ? divideRow<T, FloorDivide>
         : op == "trunc_div" ? divideRow<T, TruncatedDivide>
         : op == "mod"       ? divideRow<T, FloorModulo>
         : op == "fmod"      ? divideRow<T, TruncatedModulo>
                             : nullptr;
}

TypedRowFunction divisionForTarget(std::string_view op, DType dtype) {
  return dtype == DType::kInt32 ? rowOf<int32_t>(op) : dtype == DType::kInt64 ? rowOf<int64_t>(op) : nullptr;
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
