// Matrix products and convolutions of 16 bits by a kernel of tensor cores, for problems so small that starting and
// ending takes longer than computing. Bias, residual and activation cost no launch, and weights are read while the
// kernel in front ends.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/launch/steps.h"
#include "cuda/matmul/tile.h"

namespace torchtrt::cuda {

// out = activation(a b * scale + bias + residual), with the layer's activation.
struct SmallProduct {
  DType dtype = DType::kFloat16;
  int64_t rows = 0, columns = 0, depth = 0;
  Strided a;                       // strides of row and depth; with windows, only a place
  std::optional<Windows> windows;  // rows of a are windows of an image
  Strided b;                       // of column and depth
  Strided bias;                    // of column; of float32 beside a scale
  Strided scale;                   // of column, of float32; the columns lie dense
  Strided residual;                // of row and column
  Strided out;                     // of row and column
  bool b_is_constant = false;      // and the bias, too: no kernel writes them
  bool batch_invariant = false;    // a row's bits do not depend on the number of rows
};

// The layer, a matrix product, with its operands. Nothing if it is empty or none of one matrix by another.
std::optional<SmallProduct> singleProductOf(const Layer& layer, const kernels::ShapeSet& shapes);
// The product with operands of the call copied to scratch memory, which is aligned. Its results go there, too: the
// caller copies them. An image of windows is not copied.
SmallProduct withCopies(Launches& launches, const SmallProduct& product);

// True if the GPU has such products of that dtype.
bool hasSmallProducts(const CudaDevice& device, DType dtype);
// True if addSmallProduct() has a kernel for it that is expected to take less time than NVIDIA's library with what that
// needs behind it.
bool isSmall(const CudaDevice& device, const SmallProduct& product, bool has_activation);
// Adds the launch. Its operands begin at multiples of 16 bytes; with `copies`, those of the call may begin anywhere,
// except an image of windows. False for operands that do not lie in chunks of 16 bytes along depth and columns.
bool addSmallProduct(Launches& launches, const Layer& layer, const SmallProduct& product, bool copies);

}  // namespace torchtrt::cuda
