// Compiles COUNT networks, each from another seed, and compares engines with slow and simple kernels:
//   network_fuzz [--count COUNT] [--seed FIRST] [--verbose]
// Odd seeds make random networks of odd sizes, which the interpreter runs, too. Even ones damage network text; where a
// valid network is left, the engine runs with fast kernels and with the reference's. What fails is shrunk: to fewer
// layers, to fewer lines.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "optimization/optimization.h"
#include "support/fuzz_arguments.h"
#include "support/network_trial.h"
#include "support/random_network.h"
#include "support/text_mutation.h"
#include "torchtrt/error.h"

namespace {

using torchtrt::network::Network;

constexpr size_t kMostBytes = size_t{1} << 20;  // of the tensors of a damaged network

class RandomNetworks {
 public:
  // Returns the failure with the smallest network that has one; "" where the answers agree.
  std::string tryOne(uint64_t seed) {
    constexpr int kLayers = 10;
    const auto network = torchtrt::test::networkOfOddSizes(seed, kLayers);
    if (network == nullptr) {
      return "";
    }
    ++networks_;
    const std::string problem = problemOf(*network, seed);
    for (int layers = 1; !problem.empty() && layers < kLayers; ++layers) {
      const auto smaller = torchtrt::test::networkOfOddSizes(seed, layers);
      const std::string same = smaller == nullptr ? "" : problemOf(*smaller, seed);
      if (!same.empty()) {
        return same + "\n" + std::to_string(layers) + " layers:\n" + print(*smaller);
      }
    }
    return problem.empty() ? "" : problem + "\n" + print(*network);
  }
  unsigned long long networks() const {
    return networks_;
  }

 private:
  static std::string problemOf(const Network& network, uint64_t seed) {
    try {
      return torchtrt::testing::compareWithInterpreter(network, seed);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  unsigned long long networks_ = 0;
};

class Texts {
 public:
  Texts()
      : fuzzer_([](Network& network) {
          torchtrt::optimization::optimize(network);
          if (const std::string problem = torchtrt::testing::compareKernels(network, kMostBytes); !problem.empty()) {
            throw std::runtime_error(problem);
          }
        }) {}

  std::string tryDamaged(uint64_t seed) {
    const std::string problem = fuzzer_.tryOne(seed);
    return problem.empty() ? "" : fuzzer_.tryText(shrunk(fuzzer_.mutated(seed)));
  }
  unsigned long long networks() const {
    return fuzzer_.networks();
  }

 private:
  // Leaves lines out for as long as the text fails.
  std::string shrunk(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(line + "\n");
    }
    for (size_t i = lines.size(); i-- > 0;) {
      std::vector<std::string> fewer = lines;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
      if (!fuzzer_.tryText(joined(fewer)).empty()) {
        lines = std::move(fewer);
      }
    }
    return joined(lines);
  }

  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
      text += line;
    }
    return text;
  }

  torchtrt::test::TextFuzzer fuzzer_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = torchtrt::testing::fuzzArguments(argc, argv, "--verbose");
  if (!arguments) {
    std::fprintf(stderr, "usage: network_fuzz [--count COUNT] [--seed FIRST] [--verbose]\n");
    return 2;
  }
  RandomNetworks random;
  Texts texts;
  int failures = 0;
  for (unsigned long long seed = arguments->first; seed < arguments->first + arguments->count; ++seed) {
    if (arguments->flag) {  // before it is tried, for those that end the process
      std::fprintf(stderr, "seed %llu\n", seed);
    }
    const std::string problem = seed % 2 != 0 ? random.tryOne(seed) : texts.tryDamaged(seed);
    if (!problem.empty()) {
      std::printf("seed %llu: %s\n", seed, problem.c_str());
      std::fflush(stdout);
      ++failures;
    }
  }
  std::printf("%llu seeds: %llu random networks, %llu of damaged text, %d failures\n",
              static_cast<unsigned long long>(arguments->count), random.networks(), texts.networks(), failures);
  return failures == 0 ? 0 : 1;
}
