#include "cpu/loops/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/scalar/activations.h"

namespace torchtrt::kernels {
namespace {

template <typename T, auto Function>
void map(T* values, int64_t count, double alpha, double beta) {
  const T a = static_cast<T>(alpha);
  const T b = static_cast<T>(beta);
  for (int64_t i = 0; i < count; ++i) {
    values[i] = Function(values[i], a, b);
  }
}

template <typename Function>
struct Entry {
  std::string_view name;
  Function function;
};

template <typename T>
constexpr Entry<ActivationOp<T>> kFloating[] = {
#define ACTIVATION(NAME, DOMAIN, TEXT) {#NAME, map<T, scalar::activation_##NAME<T>>},
#include "torchtrt/operations.def"
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

// The numeric ones.
#define TORCHTRT_ENTRY_NUMERIC(NAME) {#NAME, mapInteger<scalar::activation_##NAME<int64_t>>},
#define TORCHTRT_ENTRY_FLOATING(NAME)
constexpr Entry<ActivationOp<int64_t>> kInteger[] = {
#define ACTIVATION(NAME, DOMAIN, TEXT) TORCHTRT_ENTRY_##DOMAIN(NAME)
#include "torchtrt/operations.def"
};
#undef TORCHTRT_ENTRY_NUMERIC
#undef TORCHTRT_ENTRY_FLOATING

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
