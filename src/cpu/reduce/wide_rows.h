// Products and norms of float32 or float64 values, taken in double as the reference takes them: where a sum of squares
// or a product leaves the range of float32, the result may still be within.
#pragma once

#include <cstdint>

namespace torchtrt::kernels::reduce {

enum class WideOp : uint8_t { kProduct, kNorm1, kNorm2 };

template <typename T>
struct WideRows {
  double (*ofRow)(const T* values, int64_t count);  // a norm's sum, without the root; spread over partial ones
  void (*fold)(const T* values, double* totals, int64_t count);  // one more term for each of the totals
};

// The variants for this machine.
template <typename T>
WideRows<T> wideRows(WideOp op);

}  // namespace torchtrt::kernels::reduce
