// One logger for the process: levels, prefix and colour as the reference system names them; output goes to stderr.
// Messages below the reportable level cost one comparison (use the macro, which does not build the text).
#pragma once

#include <sstream>
#include <string>

#include "torchtrt/export.h"
#include "torchtrt/logging.h"

namespace torchtrt::logging {

TORCHTRT_API std::string getPrefix();
TORCHTRT_API void setPrefix(std::string prefix);
TORCHTRT_API Level getReportableLevel();
TORCHTRT_API void setReportableLevel(Level level);
TORCHTRT_API bool isColored();
TORCHTRT_API void setColored(bool colored);

}  // namespace torchtrt::logging

#define TORCHTRT_LOG(LEVEL, MESSAGE)                                                          \
  do {                                                                                        \
    if (::torchtrt::logging::Level::LEVEL <= ::torchtrt::logging::getReportableLevel()) {     \
      std::ostringstream torchtrt_log_stream;                                                 \
      torchtrt_log_stream << MESSAGE;                                                         \
      ::torchtrt::logging::log(::torchtrt::logging::Level::LEVEL, torchtrt_log_stream.str()); \
    }                                                                                         \
  } while (false)
