// Damages plans COUNT times, each time from another seed, and loads and runs what is left. Meant for the address
// sanitizer:
//   plan_fuzz [COUNT [FIRST_SEED]]
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "support/plan_mutation.h"

int main(int argc, char** argv) {
  const uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  torchtrt::testing::PlanFuzzer fuzzers[] = {
      torchtrt::testing::PlanFuzzer(), torchtrt::testing::PlanFuzzer(torchtrt::testing::fuzzedCountedPlan()),
      torchtrt::testing::PlanFuzzer(torchtrt::testing::fuzzedQuantizedPlan()),
      torchtrt::testing::PlanFuzzer(torchtrt::testing::fuzzedPluginPlan()),
      torchtrt::testing::PlanFuzzer(torchtrt::testing::fuzzedStatePlan(), {torchtrt::testing::HostTensor({0, 2}, {})})};
  int failures = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    if (const std::string problem = fuzzers[seed / 2 % std::size(fuzzers)].tryOne(seed); !problem.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), problem.c_str());
      ++failures;
    }
  }
  int errors = 0;
  int answers = 0;
  int large = 0;
  for (const torchtrt::testing::PlanFuzzer& fuzzer : fuzzers) {
    errors += fuzzer.errors();
    answers += fuzzer.answers();
    large += fuzzer.large();
  }
  std::printf("%llu damaged plans: %d refused, %d ran, %d too large to call, %d failures\n",
              static_cast<unsigned long long>(count), errors, answers, large, failures);
  return failures == 0 ? 0 : 1;
}
