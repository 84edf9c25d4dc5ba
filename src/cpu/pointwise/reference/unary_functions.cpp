#include <cmath>
#include <cstdlib>
#include <type_traits>

#include "cpu/pointwise/reference/functions.h"
#include "kernels/scalar/integer_math.h"

namespace torchtrt::kernels {
namespace {

template <typename T, auto Function>
void map(T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    values[i] = Function(values[i]);
  }
}

template <typename T>
struct Entry {
  std::string_view name;
  UnaryOp<T> function;
};

// lgamma() writes its sign to a global variable, which threads would share.
double logGamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

float logGamma(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}

template <typename T>
constexpr Entry<T> kFloating[] = {
    {"exp", map<T, [](T x) { return std::exp(x); }>},
    {"log", map<T, [](T x) { return std::log(x); }>},
    {"sqrt", map<T, [](T x) { return std::sqrt(x); }>},
    {"reciprocal", map<T, [](T x) { return T(1) / x; }>},
    {"abs", map<T, [](T x) { return std::abs(x); }>},
    {"neg", map<T, [](T x) { return -x; }>},
    {"sin", map<T, [](T x) { return std::sin(x); }>},
    {"cos", map<T, [](T x) { return std::cos(x); }>},
    {"tan", map<T, [](T x) { return std::tan(x); }>},
    {"sinh", map<T, [](T x) { return std::sinh(x); }>},
    {"cosh", map<T, [](T x) { return std::cosh(x); }>},
    {"asin", map<T, [](T x) { return std::asin(x); }>},
    {"acos", map<T, [](T x) { return std::acos(x); }>},
    {"atan", map<T, [](T x) { return std::atan(x); }>},
    {"asinh", map<T, [](T x) { return std::asinh(x); }>},
    {"acosh", map<T, [](T x) { return std::acosh(x); }>},
    {"atanh", map<T, [](T x) { return std::atanh(x); }>},
    {"ceil", map<T, [](T x) { return std::ceil(x); }>},
    {"floor", map<T, [](T x) { return std::floor(x); }>},
    {"round", map<T, [](T x) { return std::nearbyint(x); }>},
    {"trunc", map<T, [](T x) { return std::trunc(x); }>},
    {"erf", map<T, [](T x) { return std::erf(x); }>},
    {"erfc", map<T, [](T x) { return std::erfc(x); }>},
    {"sign", map<T, [](T x) { return T(0 < x) - T(x < 0); }>},  // 0 for NaN, as PyTorch
    {"not", map<T, [](T x) { return T(x == 0); }>},
    {"isinf", map<T, [](T x) { return T(std::isinf(x)); }>},
    {"isnan", map<T, [](T x) { return T(std::isnan(x)); }>},
    {"isfinite", map<T, [](T x) { return T(std::isfinite(x)); }>},
    {"rsqrt", map<T, [](T x) { return T(1) / std::sqrt(x); }>},
    {"square", map<T, [](T x) { return x * x; }>},
    {"expm1", map<T, [](T x) { return std::expm1(x); }>},
    {"log1p", map<T, [](T x) { return std::log1p(x); }>},
    {"log2", map<T, [](T x) { return std::log2(x); }>},
    {"log10", map<T, [](T x) { return std::log10(x); }>},
    {"exp2", map<T, [](T x) { return std::exp2(x); }>},
    {"frac", map<T, [](T x) { return x - std::trunc(x); }>},
    {"lgamma", map<T, [](T x) { return logGamma(x); }>},
};

using I = int64_t;
constexpr auto kIdentity = map<I, [](I x) { return x; }>;

constexpr Entry<I> kInteger[] = {
    {"abs", map<I, [](I x) { return x < 0 ? wrapNegate(x) : x; }>},
    {"neg", map<I, [](I x) { return wrapNegate(x); }>},
    {"sign", map<I, [](I x) { return I(0 < x) - I(x < 0); }>},
    {"not", map<I, [](I x) { return I(x == 0); }>},
    {"bitwise_not", map<I, [](I x) { return ~x; }>},
    {"isinf", map<I, [](I) { return I(0); }>},
    {"isnan", map<I, [](I) { return I(0); }>},
    {"isfinite", map<I, [](I) { return I(1); }>},
    {"square", map<I, [](I x) { return wrapMul(x, x); }>},
    {"ceil", kIdentity},
    {"floor", kIdentity},
    {"round", kIdentity},
    {"trunc", kIdentity},
    {"frac", map<I, [](I) { return I(0); }>},
};

}  // namespace

template <typename T>
UnaryOp<T> findUnary(std::string_view op, bool is_bool) {
  if (is_bool && op == "bitwise_not") {
    op = "not";
  }
  if constexpr (std::is_integral_v<T>) {
    for (const Entry<T>& entry : kInteger) {
      if (entry.name == op) {
        return entry.function;
      }
    }
  } else {
    for (const Entry<T>& entry : kFloating<T>) {
      if (entry.name == op) {
        return entry.function;
      }
    }
  }
  return nullptr;
}

template UnaryOp<float> findUnary<float>(std::string_view op, bool is_bool);
template UnaryOp<double> findUnary<double>(std::string_view op, bool is_bool);
template UnaryOp<int64_t> findUnary<int64_t>(std::string_view op, bool is_bool);

}  // namespace torchtrt::kernels
