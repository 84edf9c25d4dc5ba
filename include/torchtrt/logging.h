// Messages of torchtrt while it works: level, prefix and colour, under the reference system's names. They go to stderr.
// Errors are thrown instead.
#pragma once

#include <cstdint>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::logging {

// The levels go from the most to the least important. The default lets warnings through.
enum class Level : uint8_t { kINTERNAL_ERROR, kERROR, kWARNING, kINFO, kDEBUG, kGRAPH };
TORCHTRT_USING_ENUM(Level);

TORCHTRT_API void log(Level level, const std::string& message);

TORCHTRT_API std::string get_logging_prefix();
TORCHTRT_API void set_logging_prefix(std::string prefix);
TORCHTRT_API Level get_reportable_log_level();
TORCHTRT_API void set_reportable_log_level(Level level);
TORCHTRT_API bool get_is_colored_output_on();
// Colours appear on a terminal alone, and never where the environment has NO_COLOR.
TORCHTRT_API void set_is_colored_output_on(bool colored_output_on);

}  // namespace torchtrt::logging
