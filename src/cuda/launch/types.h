// The names of types in device code.
#pragma once

#include "torchtrt/types.h"

namespace torchtrt::cuda {

// The name in text/storage.cuh of a dtype as it is stored, and of the type that it is computed in.
const char* storedType(DType dtype);
const char* computedType(DType dtype);
// The unsigned integer of an element's size, for copies bit by bit.
const char* bitsType(DType dtype);

}  // namespace torchtrt::cuda
