// The arithmetic of float rows times panels of integer weights, for this machine's instruction set.
#pragma once

#include <cstdint>

#include "cpu/gemm/packed_gemm.h"
#include "cpu/quantized/weights/weight_panels.h"

namespace torchtrt::kernels::quantized {

// Most rows of a direct product.
inline constexpr int64_t kDirectRows = 4;

// 1 to kDirectRows rows times a panel: weights become float32 in registers. out and residual are at column 0.
struct DirectProduct {
  const WeightPanels* weights;
  const WeightPanel* panel;
  int64_t rows;
  const float* a;
  int64_t a_stride;
  const float* group_sums;  // of a, [rows][groups]; null if the weights have no offset
  float* out;
  int64_t out_stride;     // of residual too
  const float* residual;  // or null
  const float* bias;      // or null
  const gemm::Epilogue* epilogue;
};

// Weights [begin, end) of the depth of some vectors of a panel as float32: [end - begin][vectors * lanes] values at
// `to`. begin and end are multiples of weightsOfLine().
struct WidenedWeights {
  const WeightPanels* weights;
  const WeightPanel* panel;
  int64_t first_vector;
  int64_t vectors;
  int64_t begin;
  int64_t end;
  float* to;
};

// The variants for this machine; ask once and keep them.
struct WeightProduct {
  int64_t lanes;         // float32 values of a vector
  int64_t most_vectors;  // of a panel
  void (*multiply)(const DirectProduct& product);
  void (*widen)(const WidenedWeights& widened);
  // The sums of each group of a row, `groups` of them.
  void (*sum_groups)(const float* row, int64_t group_size, int64_t groups, float* sums);
};
WeightProduct weightProduct();

}  // namespace torchtrt::kernels::quantized
