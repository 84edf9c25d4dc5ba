// One logger for the process: levels, prefix and colour as the reference system names them; output goes to stderr.
// Messages below the reportable level cost one comparison (use the macro, which does not build the text).
#pragma once

#include <sstream>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::logging {

enum class Level : uint8_t { kINTERNAL_ERROR, kERROR, kWARNING, kINFO, kDEBUG, kGRAPH };

TORCHTRT_API std::string getPrefix();
TORCHTRT_API void setPrefix(std::string prefix);
TORCHTRT_API Level getReportableLevel();
TORCHTRT_API void setReportableLevel(Level level);
TORCHTRT_API bool isColored();
TORCHTRT_API void setColored(bool colored);
TORCHTRT_API void log(Level level, const std::string& message);

}  // namespace torchtrt::logging

#define TORCHTRT_LOG(LEVEL, MESSAGE)                                                               \
  do {                                                                                             \
    if (::torchtrt::logging::Level::LEVEL <= ::torchtrt::logging::getReportableLevel()) {          \
      std::ostringstream torchtrt_log_stream;                                                      \
      torchtrt_log_stream << MESSAGE;                                                              \
      ::torchtrt::logging::log(::torchtrt::logging::Level::LEVEL, torchtrt_log_stream.str());      \
    }                                                                                              \
  } while (false)
