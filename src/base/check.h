// Invariant checks: a failed one is a bug in torchtrt and throws InternalError with the condition and what was seen.
// Not for input from users: that gets CompileError or EngineError with advice.
#pragma once

#include <sstream>

#include "torchtrt/error.h"

#define TORCHTRT_CHECK(CONDITION, MESSAGE)                                  \
  do {                                                                      \
    if (!(CONDITION)) [[unlikely]] {                                        \
      std::ostringstream torchtrt_check_stream;                             \
      torchtrt_check_stream << #CONDITION << " does not hold: " << MESSAGE; \
      throw ::torchtrt::InternalError(torchtrt_check_stream.str());         \
    }                                                                       \
  } while (false)
