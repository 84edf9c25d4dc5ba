#include "kernels/pointwise/rows.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/common/math-inl.h"
#include "kernels/pointwise/functions-inl.h"
#include "kernels/pointwise/quotients-inl.h"
#include "kernels/pointwise/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::pointwise::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace math = kernels::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

V one() {
  return hn::Set(D(), 1.0F);
}

struct Exp {
  static HWY_INLINE V apply(V x) {
    return math::exponential(x);
  }
};
struct Log {
  static HWY_INLINE V apply(V x) {
    return math::logarithm(x);
  }
};
struct Sqrt {
  static HWY_INLINE V apply(V x) {
    return hn::Sqrt(x);
  }
};
struct Reciprocal {
  static HWY_INLINE V apply(V x) {
    return hn::Div(one(), x);
  }
};
struct Rsqrt {
  static HWY_INLINE V apply(V x) {
    return hn::Div(one(), hn::Sqrt(x));
  }
};
struct Abs {
  static HWY_INLINE V apply(V x) {
    return hn::Abs(x);
  }
};
struct Neg {
  static HWY_INLINE V apply(V x) {
    return hn::Neg(x);
  }
};
struct Square {
  static HWY_INLINE V apply(V x) {
    return hn::Mul(x, x);
  }
};
struct Ceil {
  static HWY_INLINE V apply(V x) {
    return hn::Ceil(x);
  }
};
struct Floor {
  static HWY_INLINE V apply(V x) {
    return hn::Floor(x);
  }
};
struct Round {
  static HWY_INLINE V apply(V x) {
    return hn::Round(x);
  }
};
struct Trunc {
  static HWY_INLINE V apply(V x) {
    return hn::Trunc(x);
  }
};
struct Erf {
  static HWY_INLINE V apply(V x) {
    return math::errorFunction(x);
  }
};
struct Sin {
  static HWY_INLINE V apply(V x) {
    return sine<0>(x);
  }
};
struct Cos {
  static HWY_INLINE V apply(V x) {
    return sine<1>(x);
  }
};
struct Expm1 {
  static HWY_INLINE V apply(V x) {
    return math::exponentialMinus1(x);
  }
};
struct Log1p {
  static HWY_INLINE V apply(V x) {
    return math::logarithm1p(x);
  }
};

template <typename Op>
void mapUnary(const float* in, float* out, int64_t count, float, float) {
  const D d;
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
  static HWY_INLINE V apply(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Sub {
  static HWY_INLINE V apply(V a, V b) {
    return hn::Sub(a, b);
  }
};
struct Prod {
  static HWY_INLINE V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};
struct Div {
  static HWY_INLINE V apply(V a, V b) {
    return hn::Div(a, b);
  }
};
struct Max {
  static HWY_INLINE V apply(V a, V b) {
    return kernels::HWY_NAMESPACE::greater(b, a);
  }
};
struct Min {
  static HWY_INLINE V apply(V a, V b) {
    return kernels::HWY_NAMESPACE::lesser(b, a);
  }
};
struct ParametricRelu {
  static HWY_INLINE V apply(V x, V slope) {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(D())), x, hn::Mul(x, slope));
  }
};

template <typename Op, bool kBroadcastA, bool kBroadcastB>
HWY_INLINE void mapRow(const float* a, const float* b, float* out, int64_t count) {
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

template <typename Op>
void mapBinary(const float* a, int64_t a_step, const float* b, int64_t b_step, float* out, int64_t count) {
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

struct UnaryEntry {
  std::string_view op;
  RowFunction function;
};
constexpr UnaryEntry kUnary[] = {
    {"exp", mapUnary<Exp>},     {"log", mapUnary<Log>},
    {"sqrt", mapUnary<Sqrt>},   {"reciprocal", mapUnary<Reciprocal>},
    {"rsqrt", mapUnary<Rsqrt>}, {"abs", mapUnary<Abs>},
    {"neg", mapUnary<Neg>},     {"square", mapUnary<Square>},
    {"ceil", mapUnary<Ceil>},   {"floor", mapUnary<Floor>},
    {"round", mapUnary<Round>}, {"trunc", mapUnary<Trunc>},
    {"erf", mapUnary<Erf>},     {"expm1", mapUnary<Expm1>},
    {"log1p", mapUnary<Log1p>}, {"sin", mapUnary<Sin>},
    {"cos", mapUnary<Cos>},     {"tan", mapUnary<Tan>},
    {"asin", mapUnary<Asin>},   {"acos", mapUnary<Acos>},
    {"atan", mapUnary<Atan>},   {"sinh", mapUnary<Sinh>},
    {"cosh", mapUnary<Cosh>},   {"atanh", mapUnary<Atanh>},
    {"exp2", mapUnary<Exp2>},   {"log2", mapUnary<Log2>},
    {"sign", mapUnary<Sign>},   {"frac", mapUnary<Frac>},
};

struct BinaryEntry {
  std::string_view op;
  BinaryRowFunction function;
};
constexpr BinaryEntry kBinary[] = {
    {"sum", mapBinary<Sum>},
    {"sub", mapBinary<Sub>},
    {"prod", mapBinary<Prod>},
    {"div", mapBinary<Div>},
    {"max", mapBinary<Max>},
    {"min", mapBinary<Min>},
    {"parametric_relu", mapBinary<ParametricRelu>},
    {"atan2", mapBinary<Atan2>},
    {"fmod", mapBinary<Fmod>},
    {"mod", mapBinary<Modulo>},
    {"floor_div", mapBinary<FloorDivide>},
    {"trunc_div", mapBinary<TruncatedDivide>},
};

RowFunction unaryForTarget(std::string_view op) {
  for (const UnaryEntry& entry : kUnary) {
    if (entry.op == op) {
      return entry.function;
    }
  }
  return nullptr;
}

BinaryRowFunction binaryForTarget(std::string_view op) {
  for (const BinaryEntry& entry : kBinary) {
    if (entry.op == op) {
      return entry.function;
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace torchtrt::kernels::pointwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torchtrt::kernels::pointwise {

HWY_EXPORT(unaryForTarget);
HWY_EXPORT(binaryForTarget);

RowFunction findUnaryRow(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(unaryForTarget)(op);
}

BinaryRowFunction findBinaryRow(std::string_view op) {
  return HWY_DYNAMIC_DISPATCH(binaryForTarget)(op);
}

}  // namespace torchtrt::kernels::pointwise
#endif  // HWY_ONCE
