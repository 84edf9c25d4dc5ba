// Between steps of int8 or uint8 and real numbers, one element at a time: the definition that vector code equals in
// every bit. All of it is float32, every operation rounded by itself, nothing fused.
#pragma once

#include <cmath>
#include <cstdint>

#include "cpu/loops/activation.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::quantized {

// Steps to real numbers.
struct Dequantizer {
  float scale = 1;
  int32_t zero_point = 0;

  float operator()(int32_t step) const {
    return static_cast<float>(step - zero_point) * scale;  // the difference is exact
  }
};

// Real numbers to steps, which are integers in a float.
struct Quantizer {
  float inverse_scale = 1;  // 1 / scale, rounded
  float zero_point = 0;
  float low = 0;
  float high = 0;

  float operator()(float x) const {
    const float step = std::nearbyint(x * inverse_scale) + zero_point;  // half to even
    return step >= low ? (step > high ? high : step) : low;             // NaN is low
  }
};

// A product of quantized values does this after its int32 sum:
//   y = float(sum) * scale[k];  y += bias[k];  y += residual;  activation;  and, where the output is of steps,
//   quantize.
struct Requantization {
  bool has_bias = false;
  bool has_residual = false;
  DType residual_dtype = DType::kFloat32;  // float32, or steps, which `residual` reads
  Dequantizer residual;
  ActivationSpec activation;
  DType to = DType::kFloat32;  // float32, or steps, which `output` makes
  Quantizer output;

  bool makesSteps() const {
    return to != DType::kFloat32;
  }
};

// Operands of QUANTIZED_CONVOLUTION and QUANTIZED_MATRIX_MULTIPLY.
enum ProductOperand : uint8_t { kInput, kKernel, kScale, kBias, kResidual };

Dequantizer dequantizerOf(const Attributes& attributes);  // of a DEQUANTIZE layer
Quantizer quantizerOf(const Attributes& attributes);      // of a QUANTIZE layer
Requantization requantizationOf(const Problem& problem);  // of a product

}  // namespace torchtrt::kernels::quantized
