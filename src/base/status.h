// A line of what is going on that stays the last one on the terminal, below the messages of the log.
#pragma once

#include <string>

#include "torchtrt/export.h"

namespace torchtrt::logging {

// Stands there until it is set to another text, or to "". For a terminal alone.
TORCHTRT_API void setStatus(const std::string& text);

}  // namespace torchtrt::logging
