#include "base/operations.h"

#include <algorithm>

namespace torchtrt {
namespace {

constexpr Domain ANY = Domain::kAny, INTEGRAL = Domain::kIntegral, NUMERIC = Domain::kNumeric,  // the table's words
    FLOATING = Domain::kFloating;
constexpr bool SAME = false, BOOL = true;

constexpr Operation kActivations[] = {
#define ACTIVATION(NAME, DOMAIN, TEXT) {#NAME, DOMAIN, SAME, TEXT},
#include "torchtrt/operations.def"
};

constexpr Operation kUnary[] = {
#define UNARY(NAME, DOMAIN, RESULT, TEXT) {#NAME, DOMAIN, RESULT, TEXT},
#include "torchtrt/operations.def"
};

constexpr Operation kBinary[] = {
#define BINARY(NAME, DOMAIN, RESULT, TEXT) {#NAME, DOMAIN, RESULT, TEXT},
#include "torchtrt/operations.def"
};

}  // namespace

bool Operation::takes(DType dtype) const {
  switch (domain) {
    case Domain::kAny:
      return true;
    case Domain::kIntegral:
      return isIntegral(dtype, true);
    case Domain::kNumeric:
      return dtype != DType::kBool;
    case Domain::kFloating:
      break;
  }
  return isFloating(dtype);
}

std::span<const Operation> activations() {
  return kActivations;
}

std::span<const Operation> unaryOperations() {
  return kUnary;
}

std::span<const Operation> binaryOperations() {
  return kBinary;
}

const Operation* findOperation(std::span<const Operation> operations, std::string_view name) {
  const auto found =
      std::find_if(operations.begin(), operations.end(), [name](const Operation& each) { return each.name == name; });
  return found == operations.end() ? nullptr : &*found;
}

}  // namespace torchtrt
