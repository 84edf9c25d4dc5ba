// Words of the text form that printer and parser must agree on.
#pragma once

#include <string>
#include <string_view>

#include "torchtrt/network.h"

namespace torchtrt::network {

inline constexpr size_t kInlineElements = 32;  // constants of more elements are printed by content hash

inline bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == '-';
}

std::string quoted(std::string_view text);  // in double quotes; control characters escaped

std::string contentHash(const Weights& weights);

}  // namespace torchtrt::network
