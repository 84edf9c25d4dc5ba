// Damages a plan COUNT times, each time from another seed, and loads and runs what is left. Meant for the address
// sanitizer:
//   plan_fuzz [COUNT [FIRST_SEED]]
#include <cstdio>
#include <cstdlib>

#include "support/plan_mutation.h"

int main(int argc, char** argv) {
  const uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  torchtrt::testing::PlanFuzzer plain;
  torchtrt::testing::PlanFuzzer counted(torchtrt::testing::fuzzedCountedPlan());
  int failures = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    if (const std::string problem = (seed % 4 < 2 ? plain : counted).tryOne(seed); !problem.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), problem.c_str());
      ++failures;
    }
  }
  std::printf("%llu damaged plans: %d refused, %d ran, %d failures\n", static_cast<unsigned long long>(count),
              plain.errors() + counted.errors(), plain.answers() + counted.answers(), failures);
  return failures == 0 ? 0 : 1;
}
