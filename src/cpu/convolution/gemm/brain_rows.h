// The end of a convolution of bfloat16: float32 sums, in vectors, become results that are rounded once.
#pragma once

#include <cstdint>

#include "cpu/gemm/packed_gemm.h"

namespace torchtrt::kernels::convolution {

// Some columns of some rows. Addresses are those of the first column.
struct BrainRows {
  const float* sums;  // row r at sums + r * sums_stride, up to which they may be read
  int64_t sums_stride;
  int64_t rows;
  int64_t columns;
  const float* scale;        // or null
  const float* bias;         // or null
  const uint16_t* residual;  // or null
  uint16_t* out;
  const int64_t* out_offsets;       // of each row, in elements
  const int64_t* residual_offsets;  // of each row, in elements; unused without a residual
  const gemm::Epilogue* activation;
};
using FinishBrainRows = void (*)(const BrainRows& rows);
FinishBrainRows finishBrainRows();  // the variant for this machine

}  // namespace torchtrt::kernels::convolution
