// The one table between our element types and ATen's.
#pragma once

#include <optional>

#include <c10/core/ScalarType.h>

#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt::runtime {

TORCHTRT_API std::optional<DType> dtypeOf(
    at::ScalarType type);  // nothing for complex, quantized and other exotic types
TORCHTRT_API at::ScalarType scalarTypeOf(DType dtype);

}  // namespace torchtrt::runtime
