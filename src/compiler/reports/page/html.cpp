#include "compiler/reports/page/html.h"

#include <string_view>

namespace torchtrt {

std::string escapedHtml(const std::string& text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string escapedJson(const std::string& json) {
  constexpr std::string_view kLineSeparator = "\xE2\x80\xA8";  // U+2028
  constexpr std::string_view kParagraphSeparator = "\xE2\x80\xA9";
  const std::string_view text = json;
  std::string escaped;
  escaped.reserve(json.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view next = text.substr(i, kLineSeparator.size());
    if (text[i] == '<') {
      escaped += "\\u003c";
    } else if (text[i] == '>') {
      escaped += "\\u003e";
    } else if (text[i] == '&') {
      escaped += "\\u0026";
    } else if (next == kLineSeparator || next == kParagraphSeparator) {
      escaped += next == kLineSeparator ? "\\u2028" : "\\u2029";
      i += next.size() - 1;
    } else {
      escaped += text[i];
    }
  }
  return escaped;
}

}  // namespace torchtrt
