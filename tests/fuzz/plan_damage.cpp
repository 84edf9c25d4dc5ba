// Changes well-formed plans COUNT times, each time from another seed, and loads and runs what is left. Meant for the
// sanitizers:
//   plan_damage [--count COUNT] [--seed FIRST] [--verbose]
#include <cstdio>
#include <ctime>
#include <string>

#include "support/fuzz_arguments.h"
#include "support/plan_damage.h"

namespace {

constexpr double kLongest = 5;  // seconds of CPU: no plan of these may take longer, under a sanitizer either

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = torchtrt::testing::fuzzArguments(argc, argv, "--verbose");
  if (!arguments) {
    std::fprintf(stderr, "usage: plan_damage [--count COUNT] [--seed FIRST] [--verbose]\n");
    return 2;
  }
  torchtrt::testing::PlanDamager damager;
  int failures = 0;
  for (unsigned long long seed = arguments->first; seed < arguments->first + arguments->count; ++seed) {
    if (arguments->flag) {  // before it is tried, for those that end the process
      std::fprintf(stderr, "seed %llu\n", seed);
    }
    const std::clock_t start = std::clock();
    std::string problem = damager.tryOne(seed);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (problem.empty() && seconds > kLongest) {
      problem = "took " + std::to_string(seconds) + " s";
    }
    if (!problem.empty()) {
      std::printf("seed %llu: %s\n", seed, problem.c_str());
      std::fflush(stdout);
      ++failures;
    }
  }
  std::printf("%llu changed plans: %llu refused, %llu ran, %llu too large to try, %d failures\n",
              static_cast<unsigned long long>(arguments->count), static_cast<unsigned long long>(damager.refused()),
              static_cast<unsigned long long>(damager.answers()), static_cast<unsigned long long>(damager.large()),
              failures);
  return failures == 0 ? 0 : 1;
}
