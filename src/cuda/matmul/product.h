// A matrix product as its operands lie in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

// Strides of matrices: from row to row, from column to column, and in each dim of the batch.
struct Matrices {
  Ints batch;
  int64_t row = 0, column = 0;
};

struct Product {
  enum Part : size_t { kA, kB, kBias, kResidual, kOut, kParts };  // inputs in their order, then the output
  Ints batch;                                                     // dims
  int64_t rows = 0, columns = 0, depth = 0;
  std::array<Matrices, kParts> parts;  // a is [rows, depth] and b [depth, columns]; absent ones have strides of 0

  bool isEmpty() const {
    return countOf(batch) * rows * columns * depth == 0;
  }
  std::vector<Ints> batchStrides() const;
};

Product productOf(const Layer& layer, const kernels::ShapeSet& shapes);
// Batch and rows become rows where each matrix of the batch is multiplied by the same one.
Product folded(Product product);

// The kernel "tiled" for any product, for kernels that take few.
std::unique_ptr<kernels::Prepared> prepareTiledMatmul(const Layer& layer, const kernels::ShapeSet& shapes);

}  // namespace torchtrt::cuda
