// The functions of UNARY and ELEMENTWISE over runs of compute-type values, found by the name the layer table gives
// them.
#pragma once

#include <cstdint>
#include <string_view>

namespace torchtrt::kernels {

// Applies the function in place over `count` values. Predicates give 0 or 1.
template <typename T>
using UnaryOp = void (*)(T* values, int64_t count);

// a[i] = f(a[i], b[i]). Throws EngineError for an integer division by zero.
template <typename T>
using BinaryOp = void (*)(T* a, const T* b, int64_t count);

// Null when the op is unknown or not defined for T. `is_bool`: the values are those of a bool tensor.
template <typename T>
UnaryOp<T> findUnary(std::string_view op, bool is_bool);
template <typename T>
BinaryOp<T> findBinary(std::string_view op);

extern template UnaryOp<float> findUnary<float>(std::string_view op, bool is_bool);
extern template UnaryOp<double> findUnary<double>(std::string_view op, bool is_bool);
extern template UnaryOp<int64_t> findUnary<int64_t>(std::string_view op, bool is_bool);
extern template BinaryOp<float> findBinary<float>(std::string_view op);
extern template BinaryOp<double> findBinary<double>(std::string_view op);
extern template BinaryOp<int64_t> findBinary<int64_t>(std::string_view op);

}  // namespace torchtrt::kernels
