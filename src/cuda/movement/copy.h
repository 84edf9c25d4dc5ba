// Copies of elements between layouts, bit by bit.
#pragma once

#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

// A tensor, or a part of one: its first element lies `offset` elements behind the tensor's.
struct Part {
  Ints dims, strides;
  int64_t offset = 0;
};

Part wholeOf(const kernels::TensorDesc& desc);

// Adds a copy of the elements of `from` (of operand `input`) to `to` (of output 0), in row-major order of either's
// dims.
void addCopy(Launches& launches, DType dtype, size_t input, const Part& from, const Part& to);

}  // namespace torchtrt::cuda
