// Runs every target of the program over the inputs that are kept for it, and over a few changes of each, which the seed
// decides.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/targets/target.h"

namespace torchtrt::fuzz {
namespace {

using Path = std::filesystem::path;

constexpr uint64_t kChanges = 8;  // of each input

std::vector<Path> filesIn(const Path& folder) {
  std::vector<Path> files;
  if (std::filesystem::exists(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string contentOf(const Path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class KeptInputs : public ::testing::TestWithParam<const Target*> {};

TEST_P(KeptInputs, AreAcceptedOrRefused) {
  const Target& target = *GetParam();
  int accepted = 0;
  int refused = 0;
  for (const Path& file : filesIn(Path("tests/fuzz/corpus") / target.name)) {
    SCOPED_TRACE(file);
    const std::string input = contentOf(file);
    EXPECT_NO_THROW(++(target.run(input) ? accepted : refused));
    for (uint64_t seed = 1; seed <= kChanges && target.changed != nullptr; ++seed) {
      std::string changed = target.changed(input, seed);
      EXPECT_NO_THROW(target.run(changed)) << "seed " << seed;
      if (target.mend != nullptr && !changed.empty()) {
        changed[changed.size() / 2] = static_cast<char>(seed);
        target.mend(changed);
        EXPECT_NO_THROW(target.run(changed)) << "seed " << seed << ", mended";
      }
    }
  }
  EXPECT_GT(accepted, 2) << "inputs that are refused reach little code: has the format changed?";
  EXPECT_GT(refused, 0);
}

// Inputs that broke the code once.
TEST_P(KeptInputs, OfEarlierFailuresAreAcceptedOrRefused) {
  const Target& target = *GetParam();
  for (const Path& file : filesIn(Path("tests/fuzz/regressions") / target.name)) {
    EXPECT_NO_THROW(target.run(contentOf(file))) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, KeptInputs, ::testing::Values(TORCHTRT_FUZZ_TARGETS),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace torchtrt::fuzz
