// Rows of float16 and bfloat16 to float32 and back, in vectors; half.h has the same for one value. Equal bits except
// for the sign and payload of NaN.
#pragma once

#include <cstdint>

#include "torchtrt/types.h"

namespace torchtrt::kernels {

struct HalfRows {
  void (*widen)(const void* from, float* to, int64_t count);
  void (*narrow)(const float* from, void* to, int64_t count);  // to nearest, ties to even
};

inline bool isHalf(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// The variants for this machine; dtype is one of the two.
HalfRows halfRows(DType dtype);

}  // namespace torchtrt::kernels
