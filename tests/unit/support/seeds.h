// The seeds of a test of random networks or problems.
#pragma once

#include <cstdint>
#include <vector>

namespace torchtrt::test {

// The seeds to try: `count` from 1 on, as many as the environment variable TORCHTRT_SEEDS says if it says more, or
// the one in TORCHTRT_SEED, to replay it.
std::vector<uint64_t> seedsToTry(int count);

}  // namespace torchtrt::test
