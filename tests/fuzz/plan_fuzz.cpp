// Damages the bytes of plans COUNT times, each time from another seed, and loads and runs what is left. Meant for the
// address sanitizer:
//   plan_fuzz [--count COUNT] [--seed FIRST] [--verbose]
#include <cstdio>
#include <iterator>
#include <string>

#include "support/fuzz_arguments.h"
#include "support/plan_mutation.h"

int main(int argc, char** argv) {
  const auto arguments = torchtrt::testing::fuzzArguments(argc, argv, "--verbose");
  if (!arguments) {
    std::fprintf(stderr, "usage: plan_fuzz [--count COUNT] [--seed FIRST] [--verbose]\n");
    return 2;
  }
  torchtrt::testing::PlanFuzzer fuzzers[] = {
      torchtrt::testing::PlanFuzzer(), torchtrt::testing::PlanFuzzer(torchtrt::testing::fuzzedCountedPlan()),
      torchtrt::testing::PlanFuzzer(torchtrt::testing::fuzzedQuantizedPlan()),
      torchtrt::testing::PlanFuzzer(torchtrt::testing::fuzzedPluginPlan()),
      torchtrt::testing::PlanFuzzer(torchtrt::testing::fuzzedStatePlan(), {torchtrt::testing::HostTensor({0, 2}, {})})};
  int failures = 0;
  for (uint64_t seed = arguments->first; seed < arguments->first + arguments->count; ++seed) {
    if (arguments->flag) {  // before it is tried, for those that end the process
      std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
    }
    if (const std::string problem = fuzzers[seed / 2 % std::size(fuzzers)].tryOne(seed); !problem.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), problem.c_str());
      std::fflush(stdout);
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
              static_cast<unsigned long long>(arguments->count), errors, answers, large, failures);
  return failures == 0 ? 0 : 1;
}
