#include "cpu/pointwise/rows/rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pointwise/rows/rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/pointwise/vectors/functions-inl.h"
#include "cpu/pointwise/vectors/powers-inl.h"
#include "cpu/pointwise/vectors/quotients-inl.h"
#include "cpu/pointwise/vectors/trigonometry-inl.h"
#include "cpu/simd/math64-inl.h"
#include "cpu/simd/rounding-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;

template <typename V>
HWY_INLINE V one() {
  return hn::Set(hn::DFromV<V>(), 1);
}

struct Exp {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return math::exponential(x);
  }
};
struct Log {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return math::logarithm(x);
  }
};
struct Sqrt {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Sqrt(x);
  }
};
struct Reciprocal {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Div(one<V>(), x);
  }
};
struct Rsqrt {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Div(one<V>(), hn::Sqrt(x));
  }
};
struct Abs {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Abs(x);
  }
};
struct Neg {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Neg(x);
  }
};
struct Square {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Mul(x, x);
  }
};
struct Ceil {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return math::roundUp(x);
  }
};
struct Floor {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return math::roundDown(x);
  }
};
struct Round {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return math::roundToEven(x);
  }
};
struct Trunc {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return hn::Trunc(x);
  }
};
struct Erf {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return math::errorFunction(x);
  }
};
struct Sin {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return sine<0>(x);
  }
};
struct Cos {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return sine<1>(x);
  }
};
struct Expm1 {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return math::exponentialMinus1(x);
  }
};
struct Log1p {
  template <typename V>
  static HWY_INLINE V apply(V x) {
    return math::logarithm1p(x);
  }
};

template <typename Op, typename T>
void mapUnary(const T* in, T* out, int64_t count, T, T) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(Op::apply(hn::LoadU(d, in + i)), d, out + i);
  }
  if (i < count) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(count - i));
    hn::BlendedStore(Op::apply(hn::MaskedLoad(mask, d, in + i)), mask, d, out + i);
  }
}

struct Sum {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Sub {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Sub(a, b);
  }
};
struct Prod {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};
struct Div {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Div(a, b);
  }
};
struct Max {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    return kernels::HWY_NAMESPACE::greater(b, a);
  }
};
struct Min {
  template <typename V>
  static HWY_INLINE V apply(V a, V b) {
    return kernels::HWY_NAMESPACE::lesser(b, a);
  }
};
struct ParametricRelu {
  template <typename V>
  static HWY_INLINE V apply(V x, V slope) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(hn::DFromV<V>())), x, hn::Mul(x, slope));
  }
};

template <typename Op, bool kBroadcastA, bool kBroadcastB, typename T>
HWY_INLINE void mapRow(const T* a, const T* b, T* out, int64_t count) {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V whole_a = hn::Set(d, *a);
  const V whole_b = hn::Set(d, *b);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V x = kBroadcastA ? whole_a : hn::LoadU(d, a + i);
    const V y = kBroadcastB ? whole_b : hn::LoadU(d, b + i);
    hn::StoreU(Op::apply(x, y), d, out + i);
  }
  if (i < count) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(count - i));
    const V x = kBroadcastA ? whole_a : hn::MaskedLoad(mask, d, a + i);
    const V y = kBroadcastB ? whole_b : hn::MaskedLoad(mask, d, b + i);
    hn::BlendedStore(Op::apply(x, y), mask, d, out + i);
  }
}

template <typename Op, typename T>
void mapBinary(const T* a, int64_t a_step, const T* b, int64_t b_step, T* out, int64_t count) {
  if (a_step != 0 && b_step != 0) {
    mapRow<Op, false, false>(a, b, out, count);
  } else if (a_step != 0) {
    mapRow<Op, false, true>(a, b, out, count);
  } else if (b_step != 0) {
    mapRow<Op, true, false>(a, b, out, count);
  } else {
    mapRow<Op, true, true>(a, b, out, count);
  }
}

template <typename Function>
struct Entry {
  std::string_view op;
  Function function;
};

template <typename T>
constexpr Entry<RowFunctionOf<T>> kUnary[] = {
    {"exp", mapUnary<Exp, T>},     {"log", mapUnary<Log, T>},
    {"sqrt", mapUnary<Sqrt, T>},   {"reciprocal", mapUnary<Reciprocal, T>},
    {"rsqrt", mapUnary<Rsqrt, T>}, {"abs", mapUnary<Abs, T>},
    {"neg", mapUnary<Neg, T>},     {"square", mapUnary<Square, T>},
    {"ceil", mapUnary<Ceil, T>},   {"floor", mapUnary<Floor, T>},
    {"round", mapUnary<Round, T>}, {"trunc", mapUnary<Trunc, T>},
    {"erf", mapUnary<Erf, T>},     {"expm1", mapUnary<Expm1, T>},
    {"log1p", mapUnary<Log1p, T>}, {"sin", mapUnary<Sin, T>},
    {"cos", mapUnary<Cos, T>},     {"tan", mapUnary<Tan, T>},
    {"asin", mapUnary<Asin, T>},   {"acos", mapUnary<Acos, T>},
    {"atan", mapUnary<Atan, T>},   {"sinh", mapUnary<Sinh, T>},
    {"cosh", mapUnary<Cosh, T>},   {"asinh", mapUnary<Asinh, T>},
    {"acosh", mapUnary<Acosh, T>}, {"atanh", mapUnary<Atanh, T>},
    {"exp2", mapUnary<Exp2, T>},   {"log2", mapUnary<Log2, T>},
    {"log10", mapUnary<Log10, T>}, {"erfc", mapUnary<Erfc, T>},
    {"sign", mapUnary<Sign, T>},   {"frac", mapUnary<Frac, T>},
};

template <typename T>
constexpr Entry<BinaryRowFunctionOf<T>> kBinary[] = {
    {"sum", mapBinary<Sum, T>},
    {"sub", mapBinary<Sub, T>},
    {"prod", mapBinary<Prod, T>},
    {"div", mapBinary<Div, T>},
    {"max", mapBinary<Max, T>},
    {"min", mapBinary<Min, T>},
    {"parametric_relu", mapBinary<ParametricRelu, T>},
    {"atan2", mapBinary<Atan2, T>},
    {"fmod", mapBinary<Fmod, T>},
    {"mod", mapBinary<Modulo, T>},
    {"floor_div", mapBinary<FloorDivide, T>},
    {"trunc_div", mapBinary<TruncatedDivide, T>},
    {"pow", mapBinary<Pow, T>},
};

template <typename Table>
auto findIn(const Table& table, std::string_view op) -> decltype(table[0].function) {
  for (const auto& entry : table) {
    if (entry.op == op) {
      return entry.function;
    }
  }
  return nullptr;
}

RowFunctionOf<float> unaryFloat(std::string_view op) {
  return findIn(kUnary<float>, op);
}
RowFunctionOf<double> unaryDouble(std::string_view op) {
  return findIn(kUnary<double>, op);
}
BinaryRowFunctionOf<float> binaryFloat(std::string_view op) {
  return findIn(kBinary<float>, op);
}
BinaryRowFunctionOf<double> binaryDouble(std::string_view op) {
  return findIn(kBinary<double>, op);
}

}  // namespace
}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::pointwise {

HWY_EXPORT(unaryFloat);
HWY_EXPORT(unaryDouble);
HWY_EXPORT(binaryFloat);
HWY_EXPORT(binaryDouble);

template <>
RowFunctionOf<float> findUnaryRow(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(unaryFloat)(op);
}
template <>
RowFunctionOf<double> findUnaryRow(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(unaryDouble)(op);
}

template <>
BinaryRowFunctionOf<float> findBinaryRow(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(binaryFloat)(op);
}
template <>
BinaryRowFunctionOf<double> findBinaryRow(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(binaryDouble)(op);
}

}  // namespace torchtrt::kernels::pointwise
#endif  // HWY_ONCE
