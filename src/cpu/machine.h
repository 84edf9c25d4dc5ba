// The CPU as a machine that measurements hold for: its name in timing caches, and its limits.
#pragma once

#include <string>

#include "kernels/limits.h"
#include "torchtrt/export.h"

namespace torchtrt::kernels {

// One line: version of the library, processor, instruction sets and their cap, caches, threads. Timings found under
// another key say nothing here.
TORCHTRT_API std::string machineKey(int threads);

// Returns the version of oneDNN that kernels use; empty for a build without it.
TORCHTRT_API std::string onednnVersion();

// Returns the best of many short runs, about a quarter of a second in all. Holds 128 MiB while it measures; throws
// EngineError(kOutOfMemory) without.
TORCHTRT_API Limits measureLimits(int threads);

}  // namespace torchtrt::kernels
