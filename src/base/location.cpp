// Text of a source location.
#include "torchtrt/types.h"

namespace torchtrt {

std::string toString(const Location& location) {
  std::string text = location.file;
  if (!location.file.empty() && location.line > 0) {
    text += ":" + std::to_string(location.line);
    if (location.column > 0) {
      text += ":" + std::to_string(location.column);
    }
  }
  if (!location.scope.empty()) {
    text += (text.empty() ? "(" : " (") + location.scope + ")";
  }
  return text;
}

}  // namespace torchtrt
