// Changes the inputs that are kept for a target of torch_targets/ COUNT times, each time from another seed, and runs
// what comes of it. Without libFuzzer, whose compiler would have to build everything:
//   torch_fuzz TARGET [--count COUNT] [--seed FIRST] [--print]
// An input that fails is shrunk and kept in tests/fuzz/regressions, in the folder of the target. --print writes inputs
// instead of running them, for those that end the process.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/targets/target.h"
#include "support/fuzz_arguments.h"

namespace {

using torchtrt::fuzz::Target;

const Target* targetNamed(const std::string& name) {
  for (const Target* target : {TORCHTRT_FUZZ_TARGETS}) {
    if (target->name == name) {
      return target;
    }
  }
  return nullptr;
}

std::vector<std::string> inputsOf(const Target& target) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string("tests/fuzz/corpus/") + target.name)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

std::string changed(const Target& target, const std::string& input, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes = input;
  const uint64_t times = 1 + random() % 3;
  for (uint64_t i = 0; i < times; ++i) {
    if (std::string other = random() % 4 != 0 ? target.changed(bytes, random()) : ""; !other.empty()) {
      bytes = std::move(other);
    } else if (!bytes.empty()) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
      if (target.mend != nullptr) {
        target.mend(bytes);
      }
    }
  }
  return bytes;
}

// Returns the failure; empty where the input is accepted or refused.
std::string problemOf(const Target& target, const std::string& input) {
  try {
    target.run(input);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Leaves pieces out, large ones first, for as long as the input fails.
std::string shrunk(const Target& target, std::string input) {
  for (size_t length = input.size() / 2; length > 0; length /= 2) {
    for (size_t at = 0; at + length <= input.size();) {
      std::string shorter = input;
      shorter.erase(at, length);
      if (problemOf(target, shorter).empty()) {
        at += length;
      } else {
        input = std::move(shorter);
      }
    }
  }
  return input;
}

void keep(const Target& target, const std::string& input, uint64_t seed) {
  const std::filesystem::path folder = std::string("tests/fuzz/regressions/") + target.name;
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / ("seed-" + std::to_string(seed));
  std::ofstream(file, std::ios::binary) << input;
  std::printf("kept in %s\n", file.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const Target* target = argc > 1 ? targetNamed(argv[1]) : nullptr;
  const auto arguments = torchtrt::testing::fuzzArguments(argc - 1, argv + 1, "--print");
  if (target == nullptr || !arguments) {
    std::fprintf(stderr, "usage: torch_fuzz TARGET [--count COUNT] [--seed FIRST] [--print]\n");
    return 2;
  }
  const std::vector<std::string> inputs = inputsOf(*target);
  uint64_t accepted = 0;
  uint64_t refused = 0;
  int failures = 0;
  for (uint64_t seed = arguments->first; seed < arguments->first + arguments->count; ++seed) {
    const std::string input = changed(*target, inputs[seed % inputs.size()], seed);
    if (arguments->flag) {
      std::fwrite(input.data(), 1, input.size(), stdout);
      continue;
    }
    try {
      ++(target->run(input) ? accepted : refused);
    } catch (const std::exception& error) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), error.what());
      keep(*target, shrunk(*target, input), seed);
      std::fflush(stdout);
      ++failures;
    }
  }
  std::fprintf(stderr, "%llu changed inputs: %llu refused, %llu accepted, %d failures\n",
               static_cast<unsigned long long>(arguments->count), static_cast<unsigned long long>(refused),
               static_cast<unsigned long long>(accepted), failures);
  return failures == 0 ? 0 : 1;
}
