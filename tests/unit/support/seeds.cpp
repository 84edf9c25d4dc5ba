#include "support/seeds.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace torchtrt::test {

std::vector<uint64_t> seedsToTry(int count) {
  if (const char* seed = std::getenv("TORCHTRT_SEED")) {
    std::cerr << "replaying seed " << seed << " from TORCHTRT_SEED\n";
    return {std::strtoull(seed, nullptr, 10)};
  }
  if (const char* most = std::getenv("TORCHTRT_SEEDS")) {
    count = std::max(count, std::atoi(most));
  }
  std::cerr << "seeds 1 to " << count << "; TORCHTRT_SEED=<seed> replays one\n";
  std::vector<uint64_t> seeds;
  for (int i = 1; i <= count; ++i) {
    seeds.push_back(static_cast<uint64_t>(i));
  }
  return seeds;
}

}  // namespace torchtrt::test
