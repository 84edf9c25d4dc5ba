// The operands of attention as matrices by head.
#pragma once

#include <memory>

#include "cuda/launch/kernel.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

// Dims and strides of [heads..., rows, columns], and the byte at which the first begins.
struct HeadMatrices {
  Ints dims, strides;
  int64_t offset = 0;
};

struct AttentionOperands {
  HeadMatrices q, k, v, out;  // k is [heads..., keys, size]
};

enum AttentionInput : size_t { kQ, kK, kV, kFirstMask, kSecondMask };

AttentionOperands attentionOperands(const Attributes& fields, const kernels::ShapeSet& shapes);

// A size in 16s, at least one.
int64_t in16s(int64_t size);
// Elements of 16 bits, heads whose keys and values fit into the memory of a block, and a GPU that multiplies both
// kinds.
bool fitsTensorCores(const CudaDevice& device, DType dtype, int64_t size, int64_t columns);
// The first part of the device code of an attention, and the arguments of its kernel.
Source attentionSource(const Layer& layer, const kernels::ShapeSet& shapes, const AttentionOperands& operands);
Arguments attentionArguments(const Layer& layer, const kernels::ShapeSet& shapes, const AttentionOperands& operands);

// The kernel "attention" for any operands, for kernels that take few.
std::unique_ptr<kernels::Prepared> prepareAttention(const Layer& layer, const kernels::ShapeSet& shapes);

}  // namespace torchtrt::cuda
