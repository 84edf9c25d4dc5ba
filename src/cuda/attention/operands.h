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

// The kernel "attention" for any operands, for kernels that take few.
std::unique_ptr<kernels::Prepared> prepareAttention(const Layer& layer, const kernels::ShapeSet& shapes);

}  // namespace torchtrt::cuda
