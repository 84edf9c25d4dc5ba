// The names of types in device code.
#pragma once

#include <cstdint>

#include "torchtrt/types.h"

namespace torchtrt::cuda {

// The name in text/storage.cuh of a dtype as it is stored, and of the type that it is computed in.
const char* storedType(DType dtype);
const char* computedType(DType dtype);
// The integer in which a kernel divides the numbers of so many elements: 32 bits, which is several times faster, where
// they hold them.
const char* indexType(int64_t count);
// The unsigned integer of an element's size, for copies bit by bit.
const char* bitsType(DType dtype);

}  // namespace torchtrt::cuda
