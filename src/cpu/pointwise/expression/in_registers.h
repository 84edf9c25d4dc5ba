// Neighbouring pointwise layers of plain arithmetic in float32 or float64 as one loop over memory: a few vectors go
// through all layers before the next ones are read, and only what a layer needs later leaves the registers. Casts from
// and to 16 bits happen where values are read and written. Results are those of the layers one after the other, in
// every bit but those of a NaN.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/fusion.h"

namespace torchtrt::kernels {

struct ArithmeticLayer {
  Arithmetic what;
  std::vector<int32_t> operands;  // numbers of inputs, or -1 - the number of an earlier layer
};

// A kernel, also RunsPieces, whose one output, of `count` elements, is the result of the last layer. Null where a layer
// is of another kind or dtype, or there are too many.
TORCHTRT_API std::unique_ptr<Prepared> prepareInRegisters(const std::vector<ArithmeticLayer>& layers, int64_t count);

}  // namespace torchtrt::kernels
