// Products of few rows with large weights, as behind the squeeze of a network for images or at its end: a library's
// kernels, made for tiles, take longer to start than to read the weights.
#pragma once

#include <memory>

#include "cuda/launch/steps.h"

namespace torchtrt::cuda {

// out = activation(x weights + bias), with the layer's activation.
struct FewRows {
  DType dtype = DType::kFloat32;
  int64_t rows = 0, columns = 0, depth = 0;
  Strided x;                  // strides of row and depth
  Strided weights;            // of column and depth
  Strided bias;               // of column
  Strided out;                // of row and column
  bool rounds_first = false;  // the sum, before the activation
};

// Null for more rows, larger weights, and operands that do not lie so that neighbours along the depth are read at once.
std::unique_ptr<kernels::Prepared> prepareFewRows(const Layer& layer, const FewRows& product);

}  // namespace torchtrt::cuda
