// Checks that several kinds share. Each returns "" or "expected ..., got ...".
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/layer_context.h"

namespace torchtrt::network {

std::string expectedGot(const std::string& expected, const std::string& got);
std::string textOf(const std::vector<int64_t>& values);
std::string operandText(const LayerContext& context, int operand);  // "operand 1 float32[3, 4]"

bool isOneOf(std::string_view word, std::span<const std::string_view> words);
inline bool isOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return isOneOf(word, std::span(words.begin(), words.size()));
}
bool isNumeric(DType dtype);  // all but bool

std::string floatingInput(const LayerContext& context);    // operand 0
std::string numericInput(const LayerContext& context);     // operand 0
std::string oneDType(const LayerContext& context);         // all operands that are there
std::string axisInRange(const LayerContext& context);      // attribute "axis" against operand 0
std::string knownActivation(const LayerContext& context);  // attribute "activation"
std::string fusedActivation(const LayerContext& context);  // the same, and that it takes the output's dtype
std::string notNegative(const LayerContext& context, const char* attribute);  // of dims: none is below 0 in every call
std::string sameDims(const LayerContext& context, int operand, const Dims& expected);  // true for an absent operand

}  // namespace torchtrt::network
