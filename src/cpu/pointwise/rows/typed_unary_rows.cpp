// Functions of one operand that give what they give to the bit: signs and bits of integers, and predicates.
#include "cpu/pointwise/rows/typed_rows.h"
#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pointwise/rows/typed_unary_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/simd/each-inl.h"
#include "cpu/storage/bool_byte.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {
namespace {

namespace each = kernels::HWY_NAMESPACE;

// Integers wrap: so do unsigned ones, of 32 bits at least, since narrower ones are promoted to int.
template <typename T>
using Unsigned = std::make_unsigned_t<std::conditional_t<sizeof(T) < sizeof(int), int, T>>;

struct Abs {
  template <typename T>
  static HWY_INLINE T apply(T x) {
    return static_cast<T>(x < 0 ? Unsigned<T>{0} - static_cast<Unsigned<T>>(x) : static_cast<Unsigned<T>>(x));
  }
};
struct Neg {
  template <typename T>
  static HWY_INLINE T apply(T x) {
    return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(x));
  }
};
struct Sign {
  template <typename T>
  static HWY_INLINE T apply(T x) {
    return static_cast<T>((0 < x) - (x < 0));
  }
};
struct Square {
  template <typename T>
  static HWY_INLINE T apply(T x) {
    return static_cast<T>(static_cast<Unsigned<T>>(x) * static_cast<Unsigned<T>>(x));
  }
};
struct BitwiseNot {
  template <typename T>
  static HWY_INLINE T apply(T x) {
    return static_cast<T>(~x);
  }
};

// Predicates.
struct IsZero {
  template <typename T>
  static HWY_INLINE uint8_t apply(T x) {
    return static_cast<uint8_t>(x == 0);
  }
  static HWY_INLINE uint8_t apply(BoolByte x) {
    return static_cast<uint8_t>(x.byte == 0);
  }
};
struct IsNan {
  template <typename T>
  static HWY_INLINE uint8_t apply(T x) {
    return static_cast<uint8_t>(x != x);
  }
};
struct IsInfinite {
  template <typename T>
  static HWY_INLINE uint8_t apply(T x) {
    return static_cast<uint8_t>(std::fabs(x) > std::numeric_limits<T>::max());
  }
};
struct IsFinite {
  template <typename T>
  static HWY_INLINE uint8_t apply(T x) {
    return static_cast<uint8_t>(std::fabs(x) <= std::numeric_limits<T>::max());
  }
};

template <typename T, typename Out, typename Op>
void unaryRow(const TypedRow& row) {
  each::eachOf(static_cast<const T*>(row.in[0]), static_cast<Out*>(row.out), row.count,
               [](T x) HWY_ATTR { return Out{Op::apply(x)}; });
}

struct Entry {
  std::string_view op;
  TypedRowFunction function;
};

template <typename T>
constexpr Entry kArithmetic[] = {
    {"abs", unaryRow<T, T, Abs>},
    {"neg", unaryRow<T, T, Neg>},
    {"sign", unaryRow<T, T, Sign>},
    {"square", unaryRow<T, T, Square>},
    {"bitwise_not", unaryRow<T, T, BitwiseNot>},
};
template <typename T>
constexpr Entry kNot[] = {{"not", unaryRow<T, BoolByte, IsZero>}};
constexpr Entry kOfBool[] = {
    {"not", unaryRow<BoolByte, BoolByte, IsZero>},
    {"bitwise_not", unaryRow<BoolByte, BoolByte, IsZero>},
};
template <typename T>
constexpr Entry kOfFloating[] = {
    {"not", unaryRow<T, BoolByte, IsZero>},
    {"isnan", unaryRow<T, BoolByte, IsNan>},
    {"isinf", unaryRow<T, BoolByte, IsInfinite>},
    {"isfinite", unaryRow<T, BoolByte, IsFinite>},
};

template <size_t count>
TypedRowFunction findIn(const Entry (&entries)[count], std::string_view op) {
  for (const Entry& entry : entries) {
    if (entry.op == op) {
      return entry.function;
    }
  }
  return nullptr;
}

template <typename T>
TypedRowFunction ofInteger(std::string_view op, DType in, DType out) {
  return out == DType::kBool ? findIn(kNot<T>, op) : in == out ? findIn(kArithmetic<T>, op) : nullptr;
}

TypedRowFunction unaryForTarget(std::string_view op, DType in, DType out) {
  switch (in) {
    case DType::kInt64:
      return ofInteger<int64_t>(op, in, out);
    case DType::kInt32:
      return ofInteger<int32_t>(op, in, out);
    case DType::kInt16:
      return ofInteger<int16_t>(op, in, out);
    case DType::kInt8:
      return ofInteger<int8_t>(op, in, out);
    case DType::kUInt8:
      return ofInteger<uint8_t>(op, in, out);
    case DType::kBool:
      return out == DType::kBool ? findIn(kOfBool, op) : nullptr;
    case DType::kFloat32:
      return out == DType::kBool ? findIn(kOfFloating<float>, op) : nullptr;
    case DType::kFloat64:
      return out == DType::kBool ? findIn(kOfFloating<double>, op) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::pointwise {

HWY_EXPORT(unaryForTarget);

TypedRowFunction findTypedUnaryRow(std::string_view op, DType in, DType out) {
  return HWY_DYNAMIC_DISPATCH(unaryForTarget)(op, in, out);
}

}  // namespace torchtrt::kernels::pointwise
#endif  // HWY_ONCE
