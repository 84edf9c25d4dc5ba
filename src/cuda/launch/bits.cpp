#include "cuda/launch/bits.h"

#include <bit>
#include <limits>

#include "kernels/scalar/half.h"

namespace torchtrt::cuda {

uint64_t bitsOf(double value, DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return std::bit_cast<uint64_t>(value);
    case DType::kFloat32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case DType::kFloat16:
      return kernels::toFloat16(static_cast<float>(value)).bits;
    case DType::kBFloat16:
      return kernels::toBFloat16(static_cast<float>(value)).bits;
    case DType::kBool:
      return value != 0 ? 1 : 0;
    default:
      constexpr double kLimit = 9223372036854775808.0;
      return bitsOf(
          value >= -kLimit && value < kLimit ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min(),
          dtype);
  }
}

uint64_t bitsOf(int64_t value, DType dtype) {
  return isFloating(dtype)       ? bitsOf(static_cast<double>(value), dtype)
         : dtype == DType::kBool ? uint64_t{value != 0}
                                 : static_cast<uint64_t>(value);
}

}  // namespace torchtrt::cuda
