#include "runtime/dtypes.h"

#include <array>

#include "base/check.h"

namespace torchtrt::runtime {

namespace {

// These follow the order of DType.
constexpr std::array<at::ScalarType, kDTypeCount> kScalarTypes = {
    at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kChar, at::kInt, at::kLong, at::kByte, at::kBool, at::kShort,
};

}  // namespace

std::optional<DType> dtypeOf(at::ScalarType type) {
  for (size_t i = 0; i < kScalarTypes.size(); ++i) {
    if (kScalarTypes[i] == type) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

at::ScalarType scalarTypeOf(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  TORCHTRT_CHECK(index < kScalarTypes.size(), "element type number " << index);
  return kScalarTypes[index];
}

}  // namespace torchtrt::runtime
