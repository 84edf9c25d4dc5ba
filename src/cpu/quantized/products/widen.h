// Steps of int8 or uint8, widened to what integer_gemm.h multiplies.
#pragma once

#include <cstdint>

#include "torchtrt/types.h"

namespace torchtrt::kernels::quantized {

// Some runs of `length` steps each, that begin at offsets[i] of `from`, one behind the other:
//   to[i * length + k] = from[offsets[i] + k] - zero_point
struct WidenedRuns {
  const void* from;
  const int64_t* offsets;
  int64_t count;
  int64_t length;
  int zero_point;
  int16_t* to;
};

using WidenFunction = void (*)(const WidenedRuns& runs);
WidenFunction widenFunction(DType dtype);  // of int8 or uint8, on this machine

}  // namespace torchtrt::kernels::quantized
