// Compiles a network and compares the engine's answers with the interpreter's, or fast kernels with the reference's.
#pragma once

#include <cstdint>
#include <string>

#include "torchtrt/network.h"

namespace torchtrt::testing {

// Of random networks, whose values stay tame. Returns the first difference from the interpreter; "" for none, and
// for networks that no engine takes.
std::string compareWithInterpreter(const network::Network& network, uint64_t seed);

// Of any network that is valid. Returns the failure; "" for none. Networks of more than `most_bytes` are not run.
std::string compareKernels(const network::Network& network, size_t most_bytes);

}  // namespace torchtrt::testing
