// include/torchtrt/operations.def as data: the operations of activation, unary and elementwise layers.
#pragma once

#include <span>
#include <string_view>

#include "torchtrt/export.h"
#include "torchtrt/types.h"

namespace torchtrt {

enum class Domain : uint8_t { kAny, kIntegral, kNumeric, kFloating };  // integral: with bool; numeric: without

struct Operation {
  std::string_view name;
  Domain domain;
  bool gives_bool;
  std::string_view text;

  TORCHTRT_API bool takes(DType dtype) const;
};

// Returns the activations in the table's order.
TORCHTRT_API std::span<const Operation> activations();
TORCHTRT_API std::span<const Operation> unaryOperations();
TORCHTRT_API std::span<const Operation> binaryOperations();

// Null if the table has none of that name.
TORCHTRT_API const Operation* findOperation(std::span<const Operation> operations, std::string_view name);

}  // namespace torchtrt
