#include "base/color.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace torchtrt::logging {
namespace {

std::atomic<ColorMode> color_mode = ColorMode::kAuto;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

void setColorMode(ColorMode mode) {
  color_mode.store(mode, std::memory_order_relaxed);
}

bool takesColor(int file) {
  const ColorMode mode = color_mode.load(std::memory_order_relaxed);
  if (mode != ColorMode::kAuto) {
    return mode == ColorMode::kAlways;
  }
  // no-color.org: any value but the empty one counts.
  return isatty(file) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

}  // namespace torchtrt::logging
