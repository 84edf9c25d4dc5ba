// A convolution as one product by cuBLASLt: a row for each place of the output, by the weights as they lie.
#pragma once

#include <memory>

#include "cuda/launch/steps.h"
#include "cuda/launch/ways.h"
#include "cuda/matmul/lt_product.h"

namespace torchtrt::cuda {

bool areAll(const Ints& values, int64_t value);

struct WeightProduct {
  Place x;         // [rows, depth]
  Place residual;  // [rows, outputs]; present where the layer has one
  Place y;         // [rows, outputs]
};

// True if the product can read weights and bias where they are.
bool readsWeights(const Layer& layer, const kernels::ShapeSet& shapes);
// Adds y = x weights^T + bias + residual, or y = x weights^T for a layer with a scale. On a stand-in it adds nothing.
// False if the library has no algorithm.
bool addWeightProduct(Launches& launches, const Layer& layer, const kernels::ShapeSet& shapes, const CublasLt& api,
                      const WeightProduct& product);
// The product that `multiply` makes, or the kernel "direct" where it makes none; `if_none` is logged then.
std::unique_ptr<kernels::Prepared> productOrDirect(const Layer& layer, const kernels::ShapeSet& shapes,
                                                   const Way& multiply, const char* if_none);

}  // namespace torchtrt::cuda
