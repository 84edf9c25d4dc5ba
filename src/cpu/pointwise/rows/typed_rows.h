// Functions over rows of values of one dtype each, behind the fast casts, comparisons, integer arithmetic and
// selections. They give what the reference gives to the bit. rows.h has the arithmetic of float32.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "torchtrt/types.h"

namespace torchtrt::kernels::pointwise {

struct TypedRow {
  std::array<const void*, 3> in;
  std::array<int64_t, 3> steps;  // 1, or 0 for an operand that may be one element
  void* out;
  int64_t count;
};
using TypedRowFunction = void (*)(const TypedRow& row);

// Each of them is null where there is no such function.

// One operand with step 1; neither dtype is float16 or bfloat16, which half_rows.h converts.
TypedRowFunction findCastRow(DType from, DType to);
// One operand with step 1; of float32 only predicates.
TypedRowFunction findTypedUnaryRow(std::string_view op, DType in, DType out);
// Two operands, of which one may have step 0: all but divisions.
TypedRowFunction findTypedBinaryRow(std::string_view op, DType in, DType out);
// The same for quotients and remainders of integers. The function throws EngineError for a division by zero.
TypedRowFunction findDivisionRow(std::string_view op, DType dtype);
// A condition of bytes with step 1, and two operands of any steps, in elements of so many bytes.
TypedRowFunction findSelectRow(size_t size);

}  // namespace torchtrt::kernels::pointwise
