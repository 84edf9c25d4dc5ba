// Damages network text COUNT times, each time from another seed, and reads and optimizes what is left:
//   text_fuzz [--count COUNT] [--seed FIRST] [--print]
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "optimization/optimization.h"
#include "support/fuzz_arguments.h"
#include "support/text_mutation.h"

int main(int argc, char** argv) {
  const auto arguments = torchtrt::testing::fuzzArguments(argc, argv, "--print");
  if (!arguments) {
    std::fprintf(stderr, "usage: text_fuzz [--count COUNT] [--seed FIRST] [--print]\n");
    return 2;
  }
  torchtrt::test::TextFuzzer fuzzer([](torchtrt::network::Network& network) {
    torchtrt::optimization::optimize(network);
    torchtrt::network::verify(network);
  });
  int failures = 0;
  double longest = 0;
  uint64_t slowest = 0;
  for (uint64_t seed = arguments->first; seed < arguments->first + arguments->count; ++seed) {
    if (arguments->flag) {  // instead of reading the text
      std::printf("# seed %llu\n%s\n", static_cast<unsigned long long>(seed), fuzzer.mutated(seed).c_str());
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    if (const std::string problem = fuzzer.tryOne(seed); !problem.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), problem.c_str());
      std::fflush(stdout);
      ++failures;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds > longest) {
      longest = seconds;
      slowest = seed;
    }
  }
  std::printf("%llu damaged texts: %llu refused, %llu networks, %d failures; the slowest, seed %llu, took %.3f s\n",
              static_cast<unsigned long long>(arguments->count), static_cast<unsigned long long>(fuzzer.refused()),
              static_cast<unsigned long long>(fuzzer.networks()), failures, static_cast<unsigned long long>(slowest),
              longest);
  return failures == 0 ? 0 : 1;
}
