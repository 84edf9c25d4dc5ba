#include "cpu/simd/activation_rows.h"

#include "cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/activation_rows.cpp"  // NOLINT
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <iterator>
#include <numbers>
#include <type_traits>

#include "cpu/simd/math64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torchtrt::kernels::HWY_NAMESPACE {
namespace {

template <typename V>
using Of = hn::TFromD<hn::DFromV<V>>;

template <typename V>
HWY_INLINE V all(Of<V> value) {
  return hn::Set(hn::DFromV<V>(), value);
}

// One functor for each activation of operations.def, by its name: x is the input, a and b the layer's alpha and beta.
namespace activation {

struct relu {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    return atLeast(x, all<V>(0));
  }
};
struct clip {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V b) {
    return atMost(atLeast(x, a), b);
  }
};
struct leaky_relu {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V) {
    return hn::IfThenElse(hn::Gt(x, all<V>(0)), x, hn::Mul(x, a));
  }
};
struct sigmoid {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    return logistic(x);
  }
};
struct tanh {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    return hyperbolicTangent(x);
  }
};
struct elu {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V) {
    return hn::IfThenElse(hn::Gt(x, all<V>(0)), x, hn::Mul(a, exponentialMinus1(x)));
  }
};
struct selu {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    constexpr auto kScale = static_cast<Of<V>>(1.0507009873554804934);
    constexpr auto kAlpha = static_cast<Of<V>>(1.6732632423543772848);
    const V negative = hn::Mul(all<V>(kScale * kAlpha), exponentialMinus1(x));
    return hn::IfThenElse(hn::Gt(x, all<V>(0)), hn::Mul(all<V>(kScale), x), negative);
  }
};
struct celu {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V) {
    return hn::IfThenElse(hn::Gt(x, all<V>(0)), x, hn::Mul(a, exponentialMinus1(hn::Div(x, a))));
  }
};
struct gelu_erf {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    return normalWeighted(x);
  }
};
struct gelu_tanh {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    // (1 + tanh(z)) / 2 = 1 / (1 + e^-2z)
    constexpr Of<V> kFactor = 2 * std::numbers::sqrt2_v<Of<V>> * std::numbers::inv_sqrtpi_v<Of<V>>;
    const V cube = hn::Mul(hn::Mul(hn::Mul(all<V>(static_cast<Of<V>>(0.044715)), x), x), x);
    return hn::Div(x, onePlusExponentialOfMinus(hn::Mul(all<V>(kFactor), hn::Add(x, cube))));
  }
};
struct silu {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    return sigmoidWeighted(x);
  }
};
struct hard_swish {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    const V gate = atMost(atLeast(hn::Add(x, all<V>(3)), all<V>(0)), all<V>(6));
    return hn::Mul(hn::Mul(x, gate), all<V>(Of<V>(1) / Of<V>(6)));
  }
};
struct hard_sigmoid {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V b) {
    return atMost(atLeast(hn::MulAdd(x, a, b), all<V>(0)), all<V>(1));
  }
};
struct softplus {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V b) {
    const V scaled = hn::Mul(x, a);
    return hn::IfThenElse(hn::Gt(scaled, b), x, hn::Div(logarithm1p(exponential(scaled)), a));
  }
};
struct softsign {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    return hn::Div(x, hn::Add(all<V>(1), hn::Abs(x)));
  }
};
struct mish {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    // tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2) with e = exp(x); 1 to the last bit from there on.
    constexpr Of<V> kOne = std::is_same_v<Of<V>, float> ? 15 : 20;
    const V e = exponential(atMost(x, all<V>(kOne)));
    const V n = hn::Mul(e, hn::Add(e, all<V>(2)));
    return hn::Mul(x, hn::Div(n, hn::Add(n, all<V>(2))));
  }
};
struct log_sigmoid {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    return hn::Sub(atMost(x, all<V>(0)), logarithm1p(exponential(hn::Neg(hn::Abs(x)))));
  }
};
struct thresholded_relu {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V b) {
    return hn::IfThenElse(hn::Le(x, a), b, x);
  }
};
struct scaled_tanh {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V b) {
    return hn::Mul(a, hyperbolicTangent(hn::Mul(b, x)));
  }
};
struct hard_shrink {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V) {
    return hn::IfThenZeroElse(hn::And(hn::Ge(x, hn::Neg(a)), hn::Le(x, a)), x);
  }
};
struct soft_shrink {
  template <typename V>
  static HWY_INLINE V apply(V x, V a, V) {
    const V below = hn::IfThenElse(hn::Lt(x, hn::Neg(a)), hn::Add(x, a), hn::Mul(x, all<V>(0)));
    return hn::IfThenElse(hn::Gt(x, a), hn::Sub(x, a), below);
  }
};
struct tanh_shrink {
  template <typename V>
  static HWY_INLINE V apply(V x, V, V) {
    return hn::Sub(x, hyperbolicTangent(x));
  }
};

}  // namespace activation

template <typename Op, typename T>
void map(const T* in, T* out, int64_t count, T alpha, T beta) {
  const hn::ScalableTag<T> d;
  const auto a = hn::Set(d, alpha);
  const auto b = hn::Set(d, beta);
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

template <typename T>
struct Entry {
  std::string_view op;
  RowFunctionOf<T> function;
};

template <typename T>
constexpr Entry<T> kTable[] = {
#define ACTIVATION(NAME, DOMAIN, TEXT) {#NAME, map<activation::NAME, T>},
#include "torchtrt/operations.def"
};

template <typename T>
RowFunctionOf<T> findIn(const Entry<T>* entries, size_t count, std::string_view op) {
  for (size_t i = 0; i < count; ++i) {
    if (entries[i].op == op) {
      return entries[i].function;
    }
  }
  return nullptr;
}

RowFunctionOf<float> findFloat(std::string_view op) {
  return findIn(kTable<float>, std::size(kTable<float>), op);
}
RowFunctionOf<double> findDouble(std::string_view op) {
  return findIn(kTable<double>, std::size(kTable<double>), op);
}

}  // namespace
}  // namespace torchtrt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/check.h"

namespace torchtrt::kernels {

HWY_EXPORT(findFloat);
HWY_EXPORT(findDouble);

template <typename T>
ActivationRowsOf<T> activationRows(std::string_view op, double alpha, double beta) {
  ActivationRowsOf<T> rows;
  if (!op.empty()) {
    if constexpr (std::is_same_v<T, float>) {
      rows.function = HWY_DYNAMIC_DISPATCH(findFloat)(op);
    } else {
      rows.function = HWY_DYNAMIC_DISPATCH(findDouble)(op);
    }
    rows.alpha = static_cast<T>(alpha);
    rows.beta = static_cast<T>(beta);
    TORCHTRT_CHECK(rows.function != nullptr, "there is no activation " << op);
  }
  return rows;
}

template ActivationRowsOf<float> activationRows<float>(std::string_view op, double alpha, double beta);
template ActivationRowsOf<double> activationRows<double>(std::string_view op, double alpha, double beta);

}  // namespace torchtrt::kernels
#endif  // HWY_ONCE
