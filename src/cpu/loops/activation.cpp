#include "cpu/loops/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace torchtrt::kernels {
namespace {

// Every function hands NaN on, as PyTorch's do.
template <typename T, auto Function>
void map(T* values, int64_t count, double alpha, double beta) {
  const T a = static_cast<T>(alpha);
  const T b = static_cast<T>(beta);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = Function(values[i], a, b);
  }
}

template <typename T>
T clip(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}

template <typename T>
T geluTanh(T x) {
  constexpr T kFactor = static_cast<T>(0.5 * std::numbers::sqrt2 * 2 * std::numbers::inv_sqrtpi);
  return T(0.5) * x * (T(1) + std::tanh(kFactor * (x + T(0.044715) * x * x * x)));
}

template <typename T>
T selu(T x) {
  constexpr T kScale = static_cast<T>(1.0507009873554804934193349852946);
  constexpr T kAlpha = static_cast<T>(1.6732632423543772848170429916717);
  return x <= 0 ? kScale * kAlpha * std::expm1(x) : kScale * x;
}

template <typename T>
T softShrink(T x, T lambda) {
  if (x > lambda) {
    return x - lambda;
  }
  return x < -lambda ? x + lambda : x * T(0);
}

template <typename Function>
struct Entry {
  std::string_view name;
  Function function;
};

template <typename T>
constexpr Entry<ActivationOp<T>> kFloating[] = {
    {"relu", map<T, [](T x, T, T) { return x < 0 ? T(0) : x; }>},
    {"sigmoid", map<T, [](T x, T, T) { return T(1) / (T(1) + std::exp(-x)); }>},
    {"tanh", map<T, [](T x, T, T) { return std::tanh(x); }>},
    {"clip", map<T, [](T x, T a, T b) { return clip(x, a, b); }>},
    {"leaky_relu", map<T, [](T x, T a, T) { return 0 < x ? x : x * a; }>},
    {"elu", map<T, [](T x, T a, T) { return x <= 0 ? a * std::expm1(x) : x; }>},
    {"selu", map<T, [](T x, T, T) { return selu(x); }>},
    {"celu", map<T, [](T x, T a, T) { return x <= 0 ? a * std::expm1(x / a) : x; }>},
    {"gelu_erf",
     map<T, [](T x, T, T) { return x * T(0.5) * (T(1) + std::erf(x * static_cast<T>(std::numbers::sqrt2 / 2))); }>},
    {"gelu_tanh", map<T, [](T x, T, T) { return geluTanh(x); }>},
    {"silu", map<T, [](T x, T, T) { return x / (T(1) + std::exp(-x)); }>},
    {"hard_swish", map<T, [](T x, T, T) { return x * clip(x + T(3), T(0), T(6)) / T(6); }>},
    {"hard_sigmoid", map<T, [](T x, T a, T b) { return clip(x * a + b, T(0), T(1)); }>},
    {"softplus", map<T, [](T x, T a, T b) { return b < x * a ? x : std::log1p(std::exp(x * a)) / a; }>},
    {"softsign", map<T, [](T x, T, T) { return x / (T(1) + std::abs(x)); }>},
    {"mish", map<T, [](T x, T, T) { return x * std::tanh(std::log1p(std::exp(x))); }>},
    {"log_sigmoid", map<T, [](T x, T, T) { return (0 < x ? T(0) : x) - std::log1p(std::exp(-std::abs(x))); }>},
    {"thresholded_relu", map<T, [](T x, T a, T b) { return x <= a ? b : x; }>},
    {"scaled_tanh", map<T, [](T x, T a, T b) { return a * std::tanh(b * x); }>},
    {"hard_shrink", map<T, [](T x, T a, T) { return x >= -a && x <= a ? T(0) : x; }>},
    {"soft_shrink", map<T, [](T x, T a, T) { return softShrink(x, a); }>},
    {"tanh_shrink", map<T, [](T x, T, T) { return x - std::tanh(x); }>},
};

int64_t saturate(double value) {
  if (std::isnan(value)) {
    return 0;
  }
  if (value >= 0x1p63) {
    return std::numeric_limits<int64_t>::max();
  }
  return value < -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

template <auto Function>
void mapInteger(int64_t* values, int64_t count, double alpha, double beta) {
  const int64_t a = saturate(alpha);
  const int64_t b = saturate(beta);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = Function(values[i], a, b);
  }
}

constexpr Entry<ActivationOp<int64_t>> kInteger[] = {
    {"relu", mapInteger<[](int64_t x, int64_t, int64_t) { return std::max<int64_t>(x, 0); }>},
    {"clip", mapInteger<[](int64_t x, int64_t a, int64_t b) { return clip(x, a, b); }>},
    {"thresholded_relu", mapInteger<[](int64_t x, int64_t a, int64_t b) { return x <= a ? b : x; }>},
};

template <typename Table>
auto findIn(const Table& table, std::string_view op) -> decltype(table[0].function) {
  for (const auto& entry : table) {
    if (entry.name == op) {
      return entry.function;
    }
  }
  return nullptr;
}

}  // namespace

template <typename T>
ActivationOp<T> findActivation(std::string_view op) {
  if constexpr (std::is_integral_v<T>) {
    return findIn(kInteger, op);
  } else {
    return findIn(kFloating<T>, op);
  }
}

template ActivationOp<float> findActivation<float>(std::string_view op);
template ActivationOp<double> findActivation<double>(std::string_view op);
template ActivationOp<int64_t> findActivation<int64_t>(std::string_view op);

void wrapInto(DType dtype, int64_t* values, int64_t count) {
  const auto wrap = [&](auto narrow) {
    for (int64_t i = 0; i < count; ++i) {
      values[i] = static_cast<decltype(narrow)>(values[i]);
    }
  };
  switch (dtype) {
    case DType::kInt8:
      return wrap(int8_t());
    case DType::kInt16:
      return wrap(int16_t());
    case DType::kInt32:
      return wrap(int32_t());
    case DType::kUInt8:
      return wrap(uint8_t());
    default:
      return;
  }
}

ActivationSpec fusedActivation(const Attributes& attributes) {
  return {attributes.getString("activation", ""), attributes.getDouble("activation_alpha", 0),
          attributes.getDouble("activation_beta", 0)};
}

bool isActivationDefined(const ActivationSpec& spec, DType dtype) {
  return spec.op.empty() || visitComputeType(dtype, [&](auto type) {
           return findActivation<typename decltype(type)::type>(spec.op) != nullptr;
         });
}

}  // namespace torchtrt::kernels
