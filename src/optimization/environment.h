// Switches for looking at what the optimizer does, from the environment, so that they reach engines built deep inside a
// program:
//   TORCHTRT_DISABLE_PASSES=a,b       leaves passes out
//   TORCHTRT_DUMP_NETWORK=DIR         writes every network there as it was given and as it became
//   TORCHTRT_DUMP_AFTER=REGEX         and after each pass of such a name that changed it (to standard error without
//   DIR)
#pragma once

#include <memory>

#include "optimization/optimization.h"

namespace torchtrt::optimization {

// optimize() with those switches.
TORCHTRT_API void optimizeAsEnvironmentSays(network::Network& network, Options options = {});

// A copy that is optimized, with those switches. Throws CompileError(kInvalidNetwork) for a network that breaks a rule.
TORCHTRT_API std::unique_ptr<network::Network> optimized(const network::Network& network);

}  // namespace torchtrt::optimization
