// The arithmetic of the activations of operations.def on single values: x is the input, a and b are the layer's alpha
// and beta. Every function hands NaN on, as PyTorch's do. Device code reads this text, too: it uses nothing of the
// standard library but functions that compilers of device code know.
#pragma once

#ifdef TORCHTRT_DEVICE_CODE
#define TORCHTRT_SCALAR \
  template <class T>    \
  __device__ T
#else
#include <cmath>
#define TORCHTRT_SCALAR \
  template <class T>    \
  T

namespace torchtrt::kernels::scalar {

using std::erf;
using std::exp;
using std::expm1;
using std::fabs;
using std::log1p;
using std::tanh;
#endif

TORCHTRT_SCALAR clipped(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}
TORCHTRT_SCALAR activation_relu(T x, T, T) {
  return x < T(0) ? T(0) : x;
}
TORCHTRT_SCALAR activation_sigmoid(T x, T, T) {
  return T(1) / (T(1) + exp(-x));
}
TORCHTRT_SCALAR activation_tanh(T x, T, T) {
  return tanh(x);
}
TORCHTRT_SCALAR activation_clip(T x, T a, T b) {
  return clipped(x, a, b);
}
TORCHTRT_SCALAR activation_leaky_relu(T x, T a, T) {
  return T(0) < x ? x : x * a;
}
TORCHTRT_SCALAR activation_elu(T x, T a, T) {
  return x <= T(0) ? a * expm1(x) : x;
}
TORCHTRT_SCALAR activation_selu(T x, T, T) {
  const T scale = T(1.0507009873554804934193349852946);
  const T alpha = T(1.6732632423543772848170429916717);
  return x <= T(0) ? scale * alpha * expm1(x) : scale * x;
}
TORCHTRT_SCALAR activation_celu(T x, T a, T) {
  return x <= T(0) ? a * expm1(x / a) : x;
}
TORCHTRT_SCALAR activation_gelu_erf(T x, T, T) {
  return x * T(0.5) * (T(1) + erf(x * T(0.70710678118654752440)));
}
TORCHTRT_SCALAR activation_gelu_tanh(T x, T, T) {
  const T factor = T(0.79788456080286535588);
  return T(0.5) * x * (T(1) + tanh(factor * (x + T(0.044715) * x * x * x)));
}
TORCHTRT_SCALAR activation_silu(T x, T, T) {
  return x / (T(1) + exp(-x));
}
TORCHTRT_SCALAR activation_hard_swish(T x, T, T) {
  return x * clipped(x + T(3), T(0), T(6)) / T(6);
}
TORCHTRT_SCALAR activation_hard_sigmoid(T x, T a, T b) {
  return clipped(x * a + b, T(0), T(1));
}
TORCHTRT_SCALAR activation_softplus(T x, T a, T b) {
  return b < x * a ? x : log1p(exp(x * a)) / a;
}
TORCHTRT_SCALAR activation_softsign(T x, T, T) {
  return x / (T(1) + fabs(x));
}
TORCHTRT_SCALAR activation_mish(T x, T, T) {
  return x * tanh(log1p(exp(x)));
}
TORCHTRT_SCALAR activation_log_sigmoid(T x, T, T) {
  return (T(0) < x ? T(0) : x) - log1p(exp(-fabs(x)));
}
TORCHTRT_SCALAR activation_thresholded_relu(T x, T a, T b) {
  return x <= a ? b : x;
}
TORCHTRT_SCALAR activation_scaled_tanh(T x, T a, T b) {
  return a * tanh(b * x);
}
TORCHTRT_SCALAR activation_hard_shrink(T x, T a, T) {
  return x >= -a && x <= a ? T(0) : x;
}
TORCHTRT_SCALAR activation_soft_shrink(T x, T a, T) {
  return x > a ? x - a : x < -a ? x + a : x * T(0);
}
TORCHTRT_SCALAR activation_tanh_shrink(T x, T, T) {
  return x - tanh(x);
}

#undef TORCHTRT_SCALAR
#ifndef TORCHTRT_DEVICE_CODE
}  // namespace torchtrt::kernels::scalar
#endif
