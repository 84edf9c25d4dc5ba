// Watching a compile while it runs, and ending it early.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt {

// The present state of a compile.
struct TORCHTRT_API CompileProgress {
  std::string phase;     // "conversion": the names are those of Report::phases
  size_t engine = 0;     // number of the engine that is worked on, from 1; 0 where the phase is about no engine
  size_t engines = 0;    // that there are
  double seconds = 0;    // since the compile began
  bool is_done = false;  // the compile has ended, whichever way: this call is the last one
};

// The compiling thread calls it several times a second. An exception ends the compile, which throws the same to its
// caller; one of the last call is dropped.
using CompileWatcher = std::function<void(const CompileProgress& progress)>;

// Shows on stderr where a compile is, if it takes longer than two seconds: on one line of the terminal, which is
// removed at the end, or, where stderr is no terminal, on a line of its own every five seconds.
TORCHTRT_API CompileWatcher progressLine();

// Thrown by callbacks of a compile, such as rewriters and calibrators, to end it with the error of their own. It is no
// std::exception, so that nothing on the way takes it for a failure that PyTorch could make up for.
struct TORCHTRT_API Interruption {
  std::exception_ptr cause;  // compile() throws this to its caller
};

}  // namespace torchtrt
