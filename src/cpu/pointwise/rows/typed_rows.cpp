#include "cpu/pointwise/rows/typed_rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pointwise/rows/typed_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "cpu/simd/each-inl.h"
#include "cpu/storage/bool_byte.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {
namespace {

namespace each = kernels::HWY_NAMESPACE;

// Returns the value that operations compute with: 0 or 1 for a bool.
template <typename T>
HWY_INLINE T valueOf(T stored) {
  return stored;
}
HWY_INLINE uint8_t valueOf(BoolByte stored) {
  return static_cast<uint8_t>(stored.byte != 0);
}

template <typename T>
HWY_INLINE uint8_t asBool(T value) {
  return static_cast<uint8_t>(value != 0);
}

// Integers wrap: so do unsigned ones, of 32 bits at least, since narrower ones are promoted to int.
template <typename T>
HWY_INLINE auto bitsOf(T value) {
  return static_cast<std::make_unsigned_t<std::conditional_t<sizeof(T) < sizeof(int), int, T>>>(value);
}

struct Less {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return static_cast<uint8_t>(a < b);
  }
};
struct LessEqual {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return static_cast<uint8_t>(a <= b);
  }
};
struct Greater {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return static_cast<uint8_t>(b < a);
  }
};
struct GreaterEqual {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return static_cast<uint8_t>(b <= a);
  }
};
struct Equal {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return static_cast<uint8_t>(a == b);
  }
};
struct NotEqual {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return static_cast<uint8_t>(a != b);
  }
};
struct LogicalAnd {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return asBool(a) & asBool(b);
  }
};
struct LogicalOr {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return asBool(a) | asBool(b);
  }
};
struct LogicalXor {
  template <typename T>
  static HWY_INLINE uint8_t apply(T a, T b) {
    return asBool(a) ^ asBool(b);
  }
};

struct Sum {
  template <typename T>
  static HWY_INLINE T apply(T a, T b) {
    return static_cast<T>(bitsOf(a) + bitsOf(b));
  }
};
struct Sub {
  template <typename T>
  static HWY_INLINE T apply(T a, T b) {
    return static_cast<T>(bitsOf(a) - bitsOf(b));
  }
};
struct Prod {
  template <typename T>
  static HWY_INLINE T apply(T a, T b) {
    return static_cast<T>(bitsOf(a) * bitsOf(b));
  }
};
struct Max {
  template <typename T>
  static HWY_INLINE T apply(T a, T b) {
    return b < a ? a : b;
  }
};
struct Min {
  template <typename T>
  static HWY_INLINE T apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct BitwiseAnd {
  template <typename T>
  static HWY_INLINE T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOr {
  template <typename T>
  static HWY_INLINE T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXor {
  template <typename T>
  static HWY_INLINE T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Calls function(repeat_a, repeat_b) with constants for the steps.
template <typename Function>
HWY_INLINE void visitSteps(int64_t a_step, int64_t b_step, Function function) {
  if (a_step == 0) {
    function(std::true_type(), std::false_type());
  } else if (b_step == 0) {
    function(std::false_type(), std::true_type());
  } else {
    function(std::false_type(), std::false_type());
  }
}

template <typename T, typename Out, typename Op>
void binaryRow(const TypedRow& row) {
  const auto* a = static_cast<const T*>(row.in[0]);
  const auto* b = static_cast<const T*>(row.in[1]);
  auto* out = static_cast<Out*>(row.out);
  visitSteps(row.steps[0], row.steps[1], [&](auto repeat_a, auto repeat_b) HWY_ATTR {
    each::eachOfTwo<repeat_a.value, repeat_b.value>(a, b, out, row.count, [](T x, T y) HWY_ATTR {
      if constexpr (std::is_same_v<Out, BoolByte>) {
        return BoolByte{asBool(Op::apply(valueOf(x), valueOf(y)))};
      } else {
        return static_cast<Out>(Op::apply(x, y));
      }
    });
  });
}

template <typename T>
void selectRow(const TypedRow& row) {
  const auto* condition = static_cast<const uint8_t*>(row.in[0]);
  const auto* a = static_cast<const T*>(row.in[1]);
  const auto* b = static_cast<const T*>(row.in[2]);
  auto* HWY_RESTRICT out = static_cast<T*>(row.out);
  // One operand that is repeated fills a block of its own, so that every form is one loop.
  HWY_ALIGN T whole_a[each::kEachBlock];
  HWY_ALIGN T whole_b[each::kEachBlock];
  for (int64_t j = 0; j < each::kEachBlock; ++j) {
    whole_a[j] = *a;
    whole_b[j] = *b;
  }
  const auto block = [&](const uint8_t* HWY_RESTRICT chosen, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y,
                         T* HWY_RESTRICT to) HWY_ATTR {
    for (int64_t j = 0; j < each::kEachBlock; ++j) {
      const T yes = x[j];
      const T no = y[j];
      to[j] = chosen[j] != 0 ? yes : no;
    }
  };
  int64_t i = 0;
  for (; i + each::kEachBlock <= row.count; i += each::kEachBlock) {
    block(condition + i, row.steps[1] == 0 ? whole_a : a + i, row.steps[2] == 0 ? whole_b : b + i, out + i);
  }
  for (; i < row.count; ++i) {
    out[i] = condition[i] != 0 ? a[i * row.steps[1]] : b[i * row.steps[2]];
  }
}

struct Entry {
  std::string_view op;
  TypedRowFunction function;
};

template <typename T>
constexpr Entry kPredicates[] = {
    {"less", binaryRow<T, BoolByte, Less>},       {"less_equal", binaryRow<T, BoolByte, LessEqual>},
    {"greater", binaryRow<T, BoolByte, Greater>}, {"greater_equal", binaryRow<T, BoolByte, GreaterEqual>},
    {"equal", binaryRow<T, BoolByte, Equal>},     {"not_equal", binaryRow<T, BoolByte, NotEqual>},
    {"and", binaryRow<T, BoolByte, LogicalAnd>},  {"or", binaryRow<T, BoolByte, LogicalOr>},
    {"xor", binaryRow<T, BoolByte, LogicalXor>},
};

template <typename T>
constexpr Entry kArithmetic[] = {
    {"sum", binaryRow<T, T, Sum>},
    {"sub", binaryRow<T, T, Sub>},
    {"prod", binaryRow<T, T, Prod>},
    {"max", binaryRow<T, T, Max>},
    {"min", binaryRow<T, T, Min>},
    {"bitwise_and", binaryRow<T, T, BitwiseAnd>},
    {"bitwise_or", binaryRow<T, T, BitwiseOr>},
    {"bitwise_xor", binaryRow<T, T, BitwiseXor>},
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

TypedRowFunction binaryForTarget(std::string_view op, DType in, DType out) {
  if (out == DType::kBool) {
    switch (in) {
      case DType::kFloat32:
        return findIn(kPredicates<float>, op);
      case DType::kFloat64:
        return findIn(kPredicates<double>, op);
      case DType::kInt32:
        return findIn(kPredicates<int32_t>, op);
      case DType::kInt64:
        return findIn(kPredicates<int64_t>, op);
      case DType::kInt16:
        return findIn(kPredicates<int16_t>, op);
      case DType::kInt8:
        return findIn(kPredicates<int8_t>, op);
      case DType::kUInt8:
        return findIn(kPredicates<uint8_t>, op);
      case DType::kBool: {
        const TypedRowFunction found = findIn(kPredicates<BoolByte>, op);
        return found != nullptr ? found : findIn(kArithmetic<BoolByte>, op);
      }
      default:
        return nullptr;
    }
  }
  if (in != out) {
    return nullptr;
  }
  switch (in) {
    case DType::kInt64:
      return findIn(kArithmetic<int64_t>, op);
    case DType::kInt32:
      return findIn(kArithmetic<int32_t>, op);
    case DType::kInt16:
      return findIn(kArithmetic<int16_t>, op);
    case DType::kInt8:
      return findIn(kArithmetic<int8_t>, op);
    case DType::kUInt8:
      return findIn(kArithmetic<uint8_t>, op);
    default:
      return nullptr;
  }
}

TypedRowFunction selectForTarget(size_t size) {
  switch (size) {
    case 1:
      return selectRow<uint8_t>;
    case 2:
      return selectRow<uint16_t>;
    case 4:
      return selectRow<uint32_t>;
    case 8:
      return selectRow<uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::pointwise {

HWY_EXPORT(binaryForTarget);
HWY_EXPORT(selectForTarget);

TypedRowFunction findTypedBinaryRow(std::string_view op, DType in, DType out) {
  return HWY_DYNAMIC_DISPATCH(binaryForTarget)(op, in, out);
}

TypedRowFunction findSelectRow(size_t size) {
  return HWY_DYNAMIC_DISPATCH(selectForTarget)(size);
}

}  // namespace torchtrt::kernels::pointwise
#endif  // HWY_ONCE
