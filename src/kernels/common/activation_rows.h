// Activations over runs of float32 values, for kernels that apply one to what they have just computed. Vectorised for
// the machine at hand; results do not depend on how a tensor is cut into runs.
#pragma once

#include <cstdint>
#include <string_view>

namespace torchtrt::kernels {

// out[i] = f(in[i]) for count values; in and out may be the same.
using RowFunction = void (*)(const float* in, float* out, int64_t count, float alpha, float beta);

struct ActivationRows {
  RowFunction function = nullptr;
  float alpha = 0;
  float beta = 0;

  explicit operator bool() const {
    return function != nullptr;
  }
  void operator()(const float* in, float* out, int64_t count) const {
    function(in, out, count, alpha, beta);
  }
};

// The function of an ACTIVATION op; every op of the layer table is there. Empty for "".
ActivationRows activationRows(std::string_view op, double alpha, double beta);

}  // namespace torchtrt::kernels
