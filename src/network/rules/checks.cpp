// Checks that several kinds share.
#include "network/rules/checks.h"

#include <algorithm>

namespace torchtrt::network {

std::string expectedGot(const std::string& expected, const std::string& got) {
  return "expected " + expected + ", got " + got;
}

std::string textOf(const std::vector<int64_t>& values) {
  return Dims::of(values).toString();
}

std::string operandText(const LayerContext& context, int operand) {
  return "operand " + std::to_string(operand) + " " + toString(context.dtype(operand)) +
         context.dims(operand).toString();
}

bool isOneOf(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool isNumeric(DType dtype) {
  return dtype != DType::kBool;
}

std::string floatingInput(const LayerContext& context) {
  return isFloating(context.dtype(0)) ? "" : expectedGot("a floating dtype", operandText(context, 0));
}

std::string numericInput(const LayerContext& context) {
  return isNumeric(context.dtype(0)) ? "" : expectedGot("a numeric dtype", operandText(context, 0));
}

std::string oneDType(const LayerContext& context) {
  for (int i = 1; i < context.operands(); ++i) {
    if (context.has(i) && context.dtype(i) != context.dtype(0)) {
      return expectedGot(std::string(toString(context.dtype(0))) + " as operand 0 is", operandText(context, i));
    }
  }
  return "";
}

std::string axisInRange(const LayerContext& context) {
  const int64_t axis = context.attributes().getInt("axis");
  const bool holds = axis >= 0 && axis < context.rank(0);
  return holds ? "" : expectedGot("an axis of " + operandText(context, 0), "axis " + std::to_string(axis));
}

std::string notNegative(const LayerContext& context, const char* attribute) {
  const Dims& dims = context.attributes().getDims(attribute);
  for (const Dim& dim : dims) {
    if (context.range(dim).second < 0) {
      return expectedGot("dims of at least 0", std::string(attribute) + " " + dims.toString());
    }
  }
  return "";
}

std::string sameDims(const LayerContext& context, int operand, const Dims& expected) {
  if (!context.has(operand) || context.unify(context.dims(operand), expected)) {
    return "";
  }
  return expectedGot("dims " + expected.toString(), operandText(context, operand));
}

}  // namespace torchtrt::network
