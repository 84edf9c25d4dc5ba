// Says where the text that this process writes may have colours.
#pragma once

#include <cstdint>

#include "torchtrt/export.h"

namespace torchtrt::logging {

enum class ColorMode : uint8_t {
  kAuto,    // on a terminal, unless NO_COLOR is set or TERM is "dumb"
  kAlways,  // in files and pipes, too
  kNever
};

TORCHTRT_API void setColorMode(ColorMode mode);

// True if text for this file (STDERR_FILENO) may have colours.
TORCHTRT_API bool takesColor(int file);

}  // namespace torchtrt::logging
