#include "kernels/common/activation_rows.h"

#include "kernels/common/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/activation_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <numbers>

#include "kernels/common/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

using D = FloatTag;
using V = FloatVec;

// One functor per op: x is the input, a and b the layer's alpha and beta.
struct Relu {
  static HWY_INLINE V apply(V x, V, V) {
    return atLeast(x, constant(0.0F));
  }
};
struct Clip {
  static HWY_INLINE V apply(V x, V a, V b) {
    return atMost(atLeast(x, a), b);
  }
};
struct LeakyRelu {
  static HWY_INLINE V apply(V x, V a, V) {
    return hn::IfThenElse(hn::Gt(x, constant(0.0F)), x, hn::Mul(x, a));
  }
};
struct Sigmoid {
  static HWY_INLINE V apply(V x, V, V) {
    return logistic(x);
  }
};
struct Tanh {
  static HWY_INLINE V apply(V x, V, V) {
    return hyperbolicTangent(x);
  }
};
struct Elu {
  static HWY_INLINE V apply(V x, V a, V) {
    return hn::IfThenElse(hn::Gt(x, constant(0.0F)), x, hn::Mul(a, exponentialMinus1(x)));
  }
};
struct Selu {
  static HWY_INLINE V apply(V x, V, V) {
    constexpr float kScale = 1.0507009873554804934F;
    constexpr float kAlpha = 1.6732632423543772848F;
    const V negative = hn::Mul(constant(kScale * kAlpha), exponentialMinus1(x));
    return hn::IfThenElse(hn::Gt(x, constant(0.0F)), hn::Mul(constant(kScale), x), negative);
  }
};
struct Celu {
  static HWY_INLINE V apply(V x, V a, V) {
    return hn::IfThenElse(hn::Gt(x, constant(0.0F)), x, hn::Mul(a, exponentialMinus1(hn::Div(x, a))));
  }
};
struct GeluErf {
  static HWY_INLINE V apply(V x, V, V) {
    return normalWeighted(x);
  }
};
struct GeluTanh {
  static HWY_INLINE V apply(V x, V, V) {
    // (1 + tanh(z)) / 2 = 1 / (1 + e^-2z)
    constexpr float kFactor = 2 * std::numbers::sqrt2_v<float> * std::numbers::inv_sqrtpi_v<float>;
    const V cube = hn::Mul(hn::Mul(hn::Mul(constant(0.044715F), x), x), x);
    return hn::Div(x, onePlusExponentialOfMinus(hn::Mul(constant(kFactor), hn::Add(x, cube))));
  }
};
struct Silu {
  static HWY_INLINE V apply(V x, V, V) {
    return sigmoidWeighted(x);
  }
};
struct HardSwish {
  static HWY_INLINE V apply(V x, V, V) {
    const V gate = atMost(atLeast(hn::Add(x, constant(3.0F)), constant(0.0F)), constant(6.0F));
    return hn::Mul(hn::Mul(x, gate), constant(1.0F / 6.0F));
  }
};
struct HardSigmoid {
  static HWY_INLINE V apply(V x, V a, V b) {
    return atMost(atLeast(hn::MulAdd(x, a, b), constant(0.0F)), constant(1.0F));
  }
};
struct Softplus {
  static HWY_INLINE V apply(V x, V a, V b) {
    const V scaled = hn::Mul(x, a);
    return hn::IfThenElse(hn::Gt(scaled, b), x, hn::Div(logarithm1p(exponential(scaled)), a));
  }
};
struct Softsign {
  static HWY_INLINE V apply(V x, V, V) {
    return hn::Div(x, hn::Add(constant(1.0F), hn::Abs(x)));
  }
};
struct Mish {
  static HWY_INLINE V apply(V x, V, V) {
    // tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2) with e = exp(x); 1 to the last bit from 15 on.
    const V e = exponential(atMost(x, constant(15.0F)));
    const V n = hn::Mul(e, hn::Add(e, constant(2.0F)));
    return hn::Mul(x, hn::Div(n, hn::Add(n, constant(2.0F))));
  }
};
struct LogSigmoid {
  static HWY_INLINE V apply(V x, V, V) {
    return hn::Sub(atMost(x, constant(0.0F)), logarithm1p(exponential(hn::Neg(hn::Abs(x)))));
  }
};
struct ThresholdedRelu {
  static HWY_INLINE V apply(V x, V a, V b) {
    return hn::IfThenElse(hn::Le(x, a), b, x);
  }
};
struct ScaledTanh {
  static HWY_INLINE V apply(V x, V a, V b) {
    return hn::Mul(a, hyperbolicTangent(hn::Mul(b, x)));
  }
};
struct HardShrink {
  static HWY_INLINE V apply(V x, V a, V) {
    return hn::IfThenZeroElse(hn::And(hn::Ge(x, hn::Neg(a)), hn::Le(x, a)), x);
  }
};
struct SoftShrink {
  static HWY_INLINE V apply(V x, V a, V) {
    const V below = hn::IfThenElse(hn::Lt(x, hn::Neg(a)), hn::Add(x, a), hn::Mul(x, constant(0.0F)));
    return hn::IfThenElse(hn::Gt(x, a), hn::Sub(x, a), below);
  }
};
struct TanhShrink {
  static HWY_INLINE V apply(V x, V, V) {
    return hn::Sub(x, hyperbolicTangent(x));
  }
};

template <typename Op>
void map(const float* in, float* out, int64_t count, float alpha, float beta) {
  const D d;
  const V a = hn::Set(d, alpha);
  const V b = hn::Set(d, beta);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(Op::apply(hn::LoadU(d, in + i), a, b), d, out + i);
  }
  if (i < count) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(count - i));
    hn::BlendedStore(Op::apply(hn::MaskedLoad(mask, d, in + i), a, b), mask, d, out + i);
  }
}

struct Entry {
  std::string_view op;
  RowFunction function;
};

constexpr Entry kTable[] = {
    {"relu", map<Relu>},
    {"sigmoid", map<Sigmoid>},
    {"tanh", map<Tanh>},
    {"clip", map<Clip>},
    {"leaky_relu", map<LeakyRelu>},
    {"elu", map<Elu>},
    {"selu", map<Selu>},
    {"celu", map<Celu>},
    {"gelu_erf", map<GeluErf>},
    {"gelu_tanh", map<GeluTanh>},
    {"silu", map<Silu>},
    {"hard_swish", map<HardSwish>},
    {"hard_sigmoid", map<HardSigmoid>},
    {"softplus", map<Softplus>},
    {"softsign", map<Softsign>},
    {"mish", map<Mish>},
    {"log_sigmoid", map<LogSigmoid>},
    {"thresholded_relu", map<ThresholdedRelu>},
    {"scaled_tanh", map<ScaledTanh>},
    {"hard_shrink", map<HardShrink>},
    {"soft_shrink", map<SoftShrink>},
    {"tanh_shrink", map<TanhShrink>},
};

RowFunction findRowFunction(std::string_view op) {
  for (const Entry& entry : kTable) {
    if (entry.op == op) {
      return entry.function;
    }
  }
  return nullptr;
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/check.h"

namespace torchtrt::kernels {

HWY_EXPORT(findRowFunction);

ActivationRows activationRows(std::string_view op, double alpha, double beta) {
  ActivationRows rows;
  if (!op.empty()) {
    rows.function = HWY_DYNAMIC_DISPATCH(findRowFunction)(op);
    rows.alpha = static_cast<float>(alpha);
    rows.beta = static_cast<float>(beta);
    TORCHTRT_CHECK(rows.function != nullptr, "there is no activation " << op);
  }
  return rows;
}

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
