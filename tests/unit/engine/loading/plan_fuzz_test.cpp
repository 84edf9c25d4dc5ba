// The short form of tests/fuzz/plan_fuzz.cpp.
#include <gtest/gtest.h>

#include "support/plan_mutation.h"

namespace torchtrt::engine {
namespace {

TEST(DamagedBytes, AreAnErrorOrTheSameAnswer) {
  testing::PlanFuzzer fuzzer;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    EXPECT_EQ(fuzzer.tryOne(seed), "") << "seed " << seed;
  }
  EXPECT_GT(fuzzer.errors(), 300);
  EXPECT_GT(fuzzer.answers(), 10);
}

TEST(DamagedBytes, OfCountedOutputsAreAnErrorOrTheSameAnswer) {
  testing::PlanFuzzer fuzzer(testing::fuzzedCountedPlan());
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    EXPECT_EQ(fuzzer.tryOne(seed), "") << "seed " << seed;
  }
  EXPECT_GT(fuzzer.errors(), 300);
  EXPECT_GT(fuzzer.answers(), 10);
}

TEST(DamagedBytes, OfStepsAreAnErrorOrTheSameAnswer) {
  testing::PlanFuzzer fuzzer(testing::fuzzedQuantizedPlan());
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    EXPECT_EQ(fuzzer.tryOne(seed), "") << "seed " << seed;
  }
  EXPECT_GT(fuzzer.errors(), 300);
  EXPECT_GT(fuzzer.answers(), 10);
}

TEST(DamagedBytes, OfPluginsAreAnErrorOrTheSameAnswer) {
  testing::PlanFuzzer fuzzer(testing::fuzzedPluginPlan());
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    EXPECT_EQ(fuzzer.tryOne(seed), "") << "seed " << seed;
  }
  EXPECT_GT(fuzzer.errors(), 300);
  EXPECT_GT(fuzzer.answers(), 10);
}

TEST(DamagedBytes, OfEmptyInputsAreAnErrorOrTheSameAnswer) {
  testing::PlanFuzzer fuzzer(testing::fuzzedStatePlan(), {testing::HostTensor({0, 2}, {})});
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    EXPECT_EQ(fuzzer.tryOne(seed), "") << "seed " << seed;
  }
  EXPECT_GT(fuzzer.errors(), 300);
  EXPECT_GT(fuzzer.answers(), 10);
}

// Seeds that failed once.
TEST(DamagedBytes, KeptFailures) {
  testing::PlanFuzzer fuzzer;
  for (const uint64_t seed : {
           16301,  // 64-bit numbers of an attribute at an address between theirs
       }) {
    EXPECT_EQ(fuzzer.tryOne(seed), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace torchtrt::engine
