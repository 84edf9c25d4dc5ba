// Rows of float32 to rows of int8 or uint8 steps and back: vector code of the operators of requantization.h, equal to
// them in every bit.
#pragma once

#include <cstdint>

#include "cpu/quantized/requantization.h"

namespace torchtrt::kernels::quantized {

struct StepRows {
  void (*quantize)(const Quantizer& quantizer, const float* from, void* to, int64_t count);
  void (*dequantize)(const Dequantizer& dequantizer, const void* from, float* to, int64_t count);
};

// The variants for this machine; `steps` is int8 or uint8.
StepRows stepRows(DType steps);

}  // namespace torchtrt::kernels::quantized
