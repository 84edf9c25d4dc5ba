// The short form of tests/fuzz/text_fuzz.cpp.
#include <gtest/gtest.h>

#include "optimization/optimization.h"
#include "support/text_mutation.h"

namespace torchtrt::optimization {
namespace {

TEST(DamagedTexts, AreRefusedWithTheirPlaceOrReadAndOptimized) {
  test::TextFuzzer fuzzer([](network::Network& network) {
    optimize(network);
    verify(network);
  });
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    EXPECT_EQ(fuzzer.tryOne(seed), "") << "seed " << seed;
  }
  EXPECT_GT(fuzzer.refused(), 500u);
  EXPECT_GT(fuzzer.networks(), 100u);
}

}  // namespace
}  // namespace torchtrt::optimization
