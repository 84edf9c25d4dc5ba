// The functions of the ACTIVATION layer over runs of compute-type values: for the layer itself and for whoever fuses
// one.
#pragma once

#include <string>
#include <string_view>

#include "cpu/storage/convert.h"
#include "torchtrt/types.h"

namespace torchtrt::kernels {

struct ActivationSpec {
  std::string op;  // as the layer table names it; empty: none
  double alpha = 0;
  double beta = 0;
};

// The "fused" attributes of the layer table.
ActivationSpec fusedActivation(const Attributes& attributes);

// Applies the activation in place over `count` values.
template <typename T>
using ActivationOp = void (*)(T* values, int64_t count, double alpha, double beta);

// Null if the table has no such op, or if it is not defined for integers and T is int64_t.
template <typename T>
ActivationOp<T> findActivation(std::string_view op);

extern template ActivationOp<float> findActivation<float>(std::string_view op);
extern template ActivationOp<double> findActivation<double>(std::string_view op);
extern template ActivationOp<int64_t> findActivation<int64_t>(std::string_view op);

// True if the op is defined for the compute type of a dtype; an empty op always is.
bool isActivationDefined(const ActivationSpec& spec, DType dtype);

// Wraps the results of integer arithmetic to what the dtype can hold, as storing them would.
void wrapInto(DType dtype, int64_t* values, int64_t count);

// An activation ready to be applied; does nothing when the spec is empty.
template <typename T>
class Activation {
 public:
  // `dtype` is that of the tensor that the values belong to.
  Activation(const ActivationSpec& spec, DType dtype)
      : function_(spec.op.empty() ? nullptr : findActivation<T>(spec.op)),
        alpha_(spec.alpha),
        beta_(spec.beta),
        dtype_(dtype) {}

  void apply(T* values, int64_t count) const {
    if (function_ != nullptr) {
      if constexpr (std::is_same_v<T, int64_t>) {
        wrapInto(dtype_, values, count);
      }
      function_(values, count, alpha_, beta_);
    }
  }

 private:
  ActivationOp<T> function_;
  double alpha_, beta_;
  DType dtype_;
};

}  // namespace torchtrt::kernels
