// Base64 (RFC 4648, padded, no line breaks) for plan bytes inside of strings that Python has to read as UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace torchtrt::runtime {

std::string encodeBase64(std::string_view bytes);
// Nothing when the text is not exactly what encodeBase64 makes.
std::optional<std::string> decodeBase64(std::string_view text);

}  // namespace torchtrt::runtime
