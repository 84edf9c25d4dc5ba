// Layers of quantized values, for tests that compare every bit of their results.
#pragma once

#include <string>
#include <utility>

#include "cuda/image_convolutions.h"
#include "kernels/backend.h"

namespace torchtrt::kernels::testing {

struct Steps {
  DType dtype = DType::kUInt8;
  int64_t zero_point = 0;
};

// Everything behind the sums.
struct After {
  DType to = DType::kFloat32;
  bool bias = true;
  DType residual = DType::kBool;  // bool: none
  const char* activation = "";
};

constexpr After kToBytes = {DType::kUInt8, true, DType::kInt8, "relu"};

// All values of the dtype, in no order.
Tensor stepsOf(DType dtype, const Ints& dims, uint32_t seed);
// A convolution and a matrix multiplication, with constant weights of int8.
Case quantized(const Steps& steps, int64_t channels, int64_t outputs, const Window& window, const After& after = {},
               const Ints& images = {2, 6, 9});
Case quantizedProduct(const Steps& steps, Ints rows, int64_t depth, int64_t columns, const After& after = {});
// The layer with its weights, scales and bias as constants.
Problem withConstants(const Case& layer, bool is_image);

}  // namespace torchtrt::kernels::testing
