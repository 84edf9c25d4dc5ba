// Counts the sets of shapes that calls of a thread were prepared for, in all engines. A call that raises the count took
// longer than the next one will.
#pragma once

#include <cstdint>

#include "torchtrt/export.h"

namespace torchtrt::engine {

// Returns the count of this thread.
TORCHTRT_API uint64_t preparedShapes();
void countPreparedShapes();

}  // namespace torchtrt::engine
