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

}  // namespace
}  // namespace torchtrt::engine
