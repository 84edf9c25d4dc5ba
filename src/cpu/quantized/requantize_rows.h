// Applies the arithmetic of requantization.h to int32 sums, in vectors. The bits are the same except for activations
// other than relu and clip, whose vector functions round in their own way.
#pragma once

#include <cstdint>

#include "cpu/gemm/packed_gemm.h"
#include "cpu/quantized/requantization.h"

namespace torchtrt::kernels::quantized {

// Some columns of some rows. Addresses are those of the first column.
struct RequantizedRows {
  const int32_t* sums;  // row r at sums + r * sums_stride
  int64_t sums_stride;  // up to which sums may be read
  int64_t rows;
  int64_t columns;
  const int64_t* out_offsets;       // of each row, in elements
  const int64_t* residual_offsets;  // of each row, in elements; unused without a residual
  const float* scale;               // this and the following are set by Requantizer
  const float* bias;                // or null
  void* out;
  const void* residual;  // or null
};

class Requantizer {
 public:
  explicit Requantizer(const Problem& problem);
  // args: of the product; `rows` begin at this column of its output.
  void run(const RunArgs& args, int64_t column, RequantizedRows rows) const;

 private:
  Requantization definition_;
  gemm::Epilogue activation_;
  void (*function_)(const Requantization& definition, const gemm::Epilogue& activation, const RequantizedRows& rows);
};

}  // namespace torchtrt::kernels::quantized
