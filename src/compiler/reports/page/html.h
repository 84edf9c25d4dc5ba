// Texts that are safe inside of HTML.
#pragma once

#include <string>

namespace torchtrt {

std::string escapedHtml(const std::string& text);  // for elements and attributes

// JSON that a script element may hold: without <, > and &, which only its strings can have, and without U+2028 and
// U+2029. It stays the same JSON.
std::string escapedJson(const std::string& json);

}  // namespace torchtrt
