// The layout of an operand in memory, for every layer kind.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/kernel.h"

namespace torchtrt::kernels {

// True if the plan's order is row-major, whatever the shape will be.
inline bool isRowMajor(const Operand& operand) {
  return std::is_sorted(operand.order.begin(), operand.order.end());
}

// True if the strides are row-major: without gaps, the last axis first.
inline bool isRowMajor(const TensorDesc& desc) {
  int64_t stride = 1;
  for (size_t axis = desc.dims.size(); axis-- > 0;) {
    if (desc.dims[axis] != 1 && desc.strides[axis] != stride) {
      return false;
    }
    stride *= desc.dims[axis];
  }
  return true;
}

}  // namespace torchtrt::kernels
