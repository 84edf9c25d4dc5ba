#include "lowering/precision_pins.h"

#include <fnmatch.h>

namespace torchtrt::lowering {

bool covers(const std::string& pattern, const std::string& module_path) {
  const bool has_inside = pattern.size() > 2 && pattern.compare(pattern.size() - 2, 2, ".*") == 0;
  const std::string module = has_inside ? pattern.substr(0, pattern.size() - 2) : pattern;
  for (size_t end = module_path.find('.'); end != std::string::npos; end = module_path.find('.', end + 1)) {
    if (fnmatch(module.c_str(), module_path.substr(0, end).c_str(), 0) == 0) {
      return true;
    }
  }
  return fnmatch(module.c_str(), module_path.c_str(), 0) == 0;
}

std::optional<size_t> pinFor(const std::vector<PrecisionPin>& pins, const std::string& module_path) {
  for (size_t i = pins.size(); i-- > 0;) {
    if (covers(pins[i].pattern, module_path)) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace torchtrt::lowering
