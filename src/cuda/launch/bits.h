// Numbers as a dtype stores them.
#pragma once

#include <cstdint>

#include "torchtrt/types.h"

namespace torchtrt::cuda {

// The bits of an element, in the lowest bytes.
uint64_t bitsOf(double value, DType dtype);
uint64_t bitsOf(int64_t value, DType dtype);

}  // namespace torchtrt::cuda
