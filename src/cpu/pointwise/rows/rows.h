// Functions over rows of float32 or float64 values behind the fast unary and elementwise layers.
#pragma once

#include <cstdint>
#include <string_view>

#include "cpu/simd/activation_rows.h"

namespace torchtrt::kernels::pointwise {

// Null for ops that have no vector form; the reference has them all.
template <typename T = float>
RowFunctionOf<T> findUnaryRow(std::string_view op);

// out[i] = f(a[i * a_step], b[i * b_step]); steps are 0 or 1. Ops of elementwise layers, and "parametric_relu".
template <typename T>
using BinaryRowFunctionOf = void (*)(const T* a, int64_t a_step, const T* b, int64_t b_step, T* out, int64_t count);
using BinaryRowFunction = BinaryRowFunctionOf<float>;
template <typename T = float>
BinaryRowFunctionOf<T> findBinaryRow(std::string_view op);

}  // namespace torchtrt::kernels::pointwise
