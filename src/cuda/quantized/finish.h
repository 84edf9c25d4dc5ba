// The operands of products of steps, and what makes a result of each sum: quantized/finish.cuh.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/launch/kernel.h"
#include "cuda/quantized/steps.h"

namespace torchtrt::cuda {

enum QuantizedOperand : size_t { kSteps, kWeights, kScale, kBias, kResidual };

struct SumFinish {  // Finish of finish.cuh
  Dequantizer residual;
  Quantizer output;
  float alpha, beta;
};

SumFinish finishOf(const Layer& layer, const kernels::ShapeSet& shapes);
// Adds the texts of storage, functions, steps and finish, with what they ask to be defined. `has_small_sums`: no sum
// reaches 2^22.
void addFinishText(Source& source, const Layer& layer, const kernels::ShapeSet& shapes, bool has_small_sums);
// The zero point of the first operand.
int32_t zeroPointOf(const Attributes& attributes);

}  // namespace torchtrt::cuda
