#include "messages.h"

#include <algorithm>
#include <regex>

namespace torchtrtc {
namespace {

std::string lineAt(const std::string& text, size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

}  // namespace

std::string reasonOf(const std::string& libtorch_message) {
  static const std::regex kOurs("\\[[CEI][0-9]{3}\\] ");
  static const std::regex kRaised("(^|\n)RuntimeError: ");
  std::smatch match;
  if (std::regex_search(libtorch_message, match, kOurs)) {
    const auto begin = static_cast<size_t>(match.position());
    std::string text = lineAt(libtorch_message, begin);
    const size_t next = begin + text.size() + 1;
    const bool has_advice = libtorch_message.compare(std::min(next, libtorch_message.size()), 2, "  ") == 0;
    return has_advice ? text + "\n" + lineAt(libtorch_message, next) : text;
  }
  // Interpreters called by interpreters wrap what was raised: the innermost one's reason is the last.
  const std::sregex_iterator none;
  std::string reason;
  for (std::sregex_iterator each(libtorch_message.begin(), libtorch_message.end(), kRaised); each != none; ++each) {
    reason = lineAt(libtorch_message, static_cast<size_t>(each->position() + each->length()));
  }
  if (!reason.empty()) {
    return reason;
  }
  const size_t begin = libtorch_message.find_first_not_of(" \n");
  if (begin == std::string::npos) {
    return libtorch_message;
  }
  reason = lineAt(libtorch_message, begin);
  return reason.substr(0, reason.find_last_not_of(':') + 1);  // what follows is source code
}

std::string missingLibrary(const std::string& libtorch_message) {
  static const std::regex kOperator("Unknown builtin op: ([A-Za-z0-9_]+)::");
  static const std::regex kClass("torch\\.classes\\.([A-Za-z0-9_]+)\\.");
  std::smatch match;
  const bool is_operator = std::regex_search(libtorch_message, match, kOperator);
  if (!is_operator && !std::regex_search(libtorch_message, match, kClass)) {
    return {};
  }
  const std::string space = match[1];
  if (space == "tensorrt") {
    return "libtorchtrt_runtime.so";
  }
  if (space == "torchvision") {
    return "libtorchtrt_vision.so, or torchvision's _C.so (in Python: import torchvision)";
  }
  return "the library that registers torch." + std::string(is_operator ? "ops." : "classes.") + space;
}

}  // namespace torchtrtc
