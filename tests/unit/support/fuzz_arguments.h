// The command line of the fuzzers: [--count COUNT] [--seed FIRST] and one flag of the program's own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace torchtrt::testing {

struct FuzzArguments {
  uint64_t count = 10000;
  uint64_t first = 1;
  bool flag = false;
};

// Returns nothing if the words are wrong.
inline std::optional<FuzzArguments> fuzzArguments(int argc, char** argv, const std::string& flag) {
  FuzzArguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == flag) {
      arguments.flag = true;
      continue;
    }
    if ((word != "--count" && word != "--seed") || i + 1 == argc) {
      return std::nullopt;
    }
    char* end = nullptr;
    const uint64_t number = std::strtoull(argv[++i], &end, 10);
    if (*end != '\0' || end == argv[i]) {
      return std::nullopt;
    }
    (word == "--count" ? arguments.count : arguments.first) = number;
  }
  return arguments;
}

}  // namespace torchtrt::testing
