// Activations over runs of float32 or float64 values, for kernels that apply one to what they have just computed.
// Vectorised for the machine at hand; results do not depend on how a tensor is cut into runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace torchtrt::kernels {

// out[i] = f(in[i]) for count values; in and out may be the same.
template <typename T>
using RowFunctionOf = void (*)(const T* in, T* out, int64_t count, T alpha, T beta);
using RowFunction = RowFunctionOf<float>;

template <typename T>
struct ActivationRowsOf {
  RowFunctionOf<T> function = nullptr;
  T alpha = 0;
  T beta = 0;

  explicit operator bool() const {
    return function != nullptr;
  }
  void operator()(const T* in, T* out, int64_t count) const {
    function(in, out, count, alpha, beta);
  }
};
using ActivationRows = ActivationRowsOf<float>;

// The function of an ACTIVATION op; every op of the layer table is there. Empty for "".
template <typename T = float>
ActivationRowsOf<T> activationRows(std::string_view op, double alpha, double beta);

}  // namespace torchtrt::kernels
