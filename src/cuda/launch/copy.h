// Copies of elements between layouts, bit by bit.
#pragma once

#include <functional>

#include "cuda/launch/layout.h"

namespace torchtrt::cuda {

// Adds a pointer to the arguments of a launch.
using AddPointer = std::function<void(Arguments&)>;

// Adds a copy of as many elements of `from` to `to`, in row-major order of either's dims. Each has the strides of one
// tensor.
void addCopy(Launches& launches, DType dtype, const Layout& from, const AddPointer& source, const Layout& to,
             const AddPointer& target);

// A tensor, or a part of one: its first element lies `offset` elements behind the tensor's.
struct Part {
  Ints dims, strides;
  int64_t offset = 0;
};

Part wholeOf(const kernels::TensorDesc& desc);

// The same from a part of operand `input` to a part of output 0.
void addCopy(Launches& launches, DType dtype, size_t input, const Part& from, const Part& to);

}  // namespace torchtrt::cuda
