// Random networks whose plans bring machine code along run where there is no compiler, at each end of their ranges.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "builder/run.h"
#include "cuda/emulation.h"
#include "engine/schedule/precompile.h"
#include "support/interpreter.h"
#include "support/random_network.h"
#include "support/seeds.h"

namespace torchtrt::cuda::testing {
namespace {

using network::Weights;

TEST(NetworksWithBinaries, RunWhereThereIsNoCompiler) {
  if (torchtrt::testing::testDevice().properties().name != "emulated GPU") {
    GTEST_SKIP() << "takes the compiler away";
  }
  size_t impossible = 0;
  const std::vector<uint64_t> seeds = test::seedsToTry(30);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
    const auto network = test::randomNetwork(seed);
    plan::Plan plan = builder::optimizeAndBuild(*network);
    plan.binaries = engine::precompiled(plan, "sm_90");
    const WithoutCompiler none;
    const auto engine = builder::loadPlan(plan);
    for (const int64_t batch : {2, 1, 4}) {
      const std::vector<Weights> inputs =
          torchtrt::testing::randomInputs(*network, static_cast<uint32_t>(seed), {{"n", batch}});
      const std::optional<std::vector<Weights>> expected = torchtrt::testing::interpretIfPossible(*network, inputs);
      if (!expected) {
        ++impossible;
        continue;
      }
      const std::vector<Weights> got = builder::runEngine(*engine, inputs);
      ASSERT_EQ(got.size(), expected->size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_TRUE(torchtrt::testing::agree(got[i], (*expected)[i])) << "output " << i << " for a batch of " << batch;
      }
    }
  }
  EXPECT_LT(impossible, std::max<size_t>(5, seeds.size() / 30));
}

}  // namespace
}  // namespace torchtrt::cuda::testing
