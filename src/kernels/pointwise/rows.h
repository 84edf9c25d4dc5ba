// Functions over rows of float32 values behind the fast unary and elementwise layers.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/common/activation_rows.h"

namespace torchtrt::kernels::pointwise {

// Null for ops that have no vector form; the reference has them all.
RowFunction findUnaryRow(std::string_view op);

// out[i] = f(a[i * a_step], b[i * b_step]); steps are 0 or 1. Ops of elementwise layers, and "parametric_relu".
using BinaryRowFunction = void (*)(const float* a, int64_t a_step, const float* b, int64_t b_step, float* out,
                                   int64_t count);
BinaryRowFunction findBinaryRow(std::string_view op);

}  // namespace torchtrt::kernels::pointwise
