// How kernels of this backend walk through tensors: dims that lie next to each other become one, so that the text is
// made for few ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/launch/launch.h"

namespace torchtrt::cuda {

using Ints = std::vector<int64_t>;

// Several tensors of one shape, each with strides of its own.
struct Layout {
  Ints dims;
  std::vector<Ints> strides;

  int64_t count() const;
  int64_t rank() const {
    return static_cast<int64_t>(dims.size());
  }
};

// The same elements in the same order with as few dims as possible.
Layout collapsed(const Ints& dims, const std::vector<Ints>& strides);
// Strides of a tensor that is broadcast to `dims` (NumPy's rules).
Ints broadcastTo(const kernels::TensorDesc& desc, const Ints& dims);
// Walk<rank> of text/storage.cuh.
void addWalk(Arguments& arguments, const Ints& dims, const Ints& strides);

int64_t countOf(const Ints& dims);

// The name in text/storage.cuh of a dtype as it is stored, and of the type that it is computed in.
const char* storedType(DType dtype);
const char* computedType(DType dtype);
// The unsigned integer of an element's size, for copies bit by bit.
const char* bitsType(DType dtype);

// Whether text/functions.cuh computes an activation on this dtype; "" is none.
bool hasActivation(const std::string& name, DType dtype);
// The same for one that a layer applies last. Integers are stored, and so wrapped, before it: the CPU does that.
inline bool hasFusedActivation(const std::string& name, DType dtype) {
  return name.empty() || (isFloating(dtype) && hasActivation(name, dtype));
}
// Defines ACTIVATION(x, alpha, beta) from a layer's "activation" attribute.
void defineActivation(Source& source, const std::string& name);

}  // namespace torchtrt::cuda
