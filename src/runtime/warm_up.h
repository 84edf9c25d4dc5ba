// Does once, when a module is prepared, what libtorch's interpreter does in the first call of a process.
#pragma once

#include "torchtrt/export.h"

namespace torchtrt::runtime {

// Has libtorch read its derivatives and run its passes on a graph like those that call engines: some 37 ms and
// 3 MB the first time, nothing later. Throws nothing and returns whether it could: what fails here is told by the call
// that needs it.
TORCHTRT_API bool warmInterpreter();

}  // namespace torchtrt::runtime
