// Switches of the optimizer from the environment, so that they reach engines built deep inside a program:
//   TORCHTRT_DISABLE_PASSES=a,b  leaves passes out
//   TORCHTRT_DUMP                writes networks as they were given, as they became, and between (base/dump.h)
#pragma once

#include <memory>

#include "optimization/optimization.h"

namespace torchtrt::optimization {

// optimize() with those switches.
TORCHTRT_API void optimizeAsEnvironmentSays(network::Network& network, Options options = {});

// A copy that is optimized, with those switches. Throws CompileError(kInvalidNetwork) for a network that breaks a rule.
TORCHTRT_API std::unique_ptr<network::Network> optimized(const network::Network& network);

}  // namespace torchtrt::optimization
