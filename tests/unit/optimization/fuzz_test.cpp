// Random networks through every pass alone and through the pipeline: still valid, honest about "changed", the same
// numbers, and nothing left for a second run. TORCHTRT_FUZZ_SEEDS sets how many networks, TORCHTRT_FUZZ_FIRST which
// comes first. It prints how many of them each pass changed.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "optimization/optimization.h"
#include "optimization/random_graph.h"
#include "support/double_reference.h"
#include "support/interpreter.h"

namespace torchtrt::optimization {
namespace {

using network::Network;
using network::Weights;

constexpr uint32_t kSeeds = 200;     // of a plain run
constexpr double kTolerance = 1e-4;  // of the largest value, as for whole models

uint32_t numberFrom(const char* variable, uint32_t fallback) {
  const char* text = std::getenv(variable);
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : fallback;
}

Options checkedOptions() {
  Options options;
  options.verify = true;
  options.check_changed = true;
  options.min_attention_queries = options.min_attention_keys = 1;
  return options;
}

int judged_by_double = 0;  // results over tolerance that are as near to the exact ones as rounding allows

void expectSame(const Network& before, const Network& after, const std::vector<Weights>& inputs) {
  const std::vector<Weights> expected = torchtrt::testing::interpret(before, inputs);
  const std::vector<Weights> got = torchtrt::testing::interpret(after, inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(after.getOutputName(static_cast<int>(i)), before.getOutputName(static_cast<int>(i)));
    const auto agreement = torchtrt::testing::agree(got[i], expected[i], kTolerance);
    if (!agreement && torchtrt::testing::isRounding(before, inputs, i, got[i], expected[i])) {
      ++judged_by_double;
      continue;
    }
    EXPECT_TRUE(agreement) << "output " << i;
  }
}

// Runs the passes on a copy of the network until nothing changes, and once more. True if they changed anything.
bool check(const Network& network, const std::vector<std::string>& passes, const std::vector<Weights>& inputs) {
  const auto changed = network.clone();
  auto manager = createManager(passes, checkedOptions());
  const bool has_changed = manager.run(*changed);
  EXPECT_FALSE(manager.runOnce(*changed)) << "a second run still changes the network";
  expectSame(network, *changed, inputs);
  if (::testing::Test::HasFailure()) {
    ADD_FAILURE() << "before:\n" << network::print(network) << "after:\n" << network::print(*changed);
  }
  return has_changed;
}

TEST(OptimizationFuzz, KeepsValuesAndComesToRest) {
  std::vector<std::string> all;
  for (const PassEntry& entry : pipeline()) {
    all.push_back(entry.name);
  }
  std::map<std::string, int> changes;
  const uint32_t first = numberFrom("TORCHTRT_FUZZ_FIRST", 1);
  const uint32_t seeds = numberFrom("TORCHTRT_FUZZ_SEEDS", kSeeds);
  for (uint32_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto network = testing::randomGraph(seed);
    ASSERT_NO_THROW(network::verify(*network));
    const std::vector<Weights> inputs = torchtrt::testing::randomInputs(*network, seed, {{"s0", 1 + seed % 4}});
    check(*network, all, inputs);
    for (const std::string& pass : all) {
      SCOPED_TRACE("pass " + pass);
      changes[pass] += check(*network, {pass}, inputs) ? 1 : 0;
    }
    if (HasFailure()) {
      FAIL() << "replay with TORCHTRT_FUZZ_FIRST=" << seed << " TORCHTRT_FUZZ_SEEDS=1";
    }
  }
  std::printf("%u networks, %d results judged by float64\n", seeds, judged_by_double);
  for (const std::string& pass : all) {
    std::printf("  %-40s changed %d\n", pass.c_str(), changes[pass]);
  }
  if (seeds >= kSeeds) {
    EXPECT_LE(judged_by_double, 1 + static_cast<int>(seeds) / 50) << "the tolerance decides, this is for rare cases";
    for (const std::string& pass : all) {
      EXPECT_GT(changes[pass], 0) << "no network gave " << pass << " anything to do";
    }
  }
}

}  // namespace
}  // namespace torchtrt::optimization
