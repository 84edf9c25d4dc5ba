// Exact text of numbers and constants' elements: what is printed reads back to the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torchtrt/types.h"

namespace torchtrt::network {

std::string doubleText(double value);  // shortest that reads back; always with '.', 'e', "inf" or "nan" in it
std::optional<double> parseDouble(std::string_view text);
std::optional<int64_t> parseInt(std::string_view text);

// One element of a constant. float16 and bfloat16 are printed as the number they stand for, odd NaNs as their bits.
std::string elementText(DType dtype, const void* element);
bool parseElement(DType dtype, std::string_view text, void* element);  // false when the text is no such element

}  // namespace torchtrt::network
