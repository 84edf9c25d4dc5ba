// Damages network text COUNT times, each time from another seed, and reads and optimizes what is left:
//   text_fuzz [--count COUNT] [--seed FIRST] [--print]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "optimization/optimization.h"
#include "support/text_mutation.h"

namespace {

struct Arguments {
  uint64_t count = 10000;
  uint64_t first = 1;
  bool print = false;  // the texts, instead of reading them
};

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--print") {
      arguments.print = true;
      continue;
    }
    if ((word != "--count" && word != "--seed") || i + 1 == argc) {
      return false;
    }
    char* end = nullptr;
    const uint64_t number = std::strtoull(argv[++i], &end, 10);
    if (*end != '\0' || end == argv[i]) {
      return false;
    }
    (word == "--count" ? arguments.count : arguments.first) = number;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
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
  for (uint64_t seed = arguments.first; seed < arguments.first + arguments.count; ++seed) {
    if (arguments.print) {
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
              static_cast<unsigned long long>(arguments.count), static_cast<unsigned long long>(fuzzer.refused()),
              static_cast<unsigned long long>(fuzzer.networks()), failures, static_cast<unsigned long long>(slowest),
              longest);
  return failures == 0 ? 0 : 1;
}
