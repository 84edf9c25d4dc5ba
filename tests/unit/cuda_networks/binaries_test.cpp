// Random networks whose plans bring machine code along run where there is no compiler, at each end of their ranges.
#include <gtest/gtest.h>

#include <vector>

#include "builder/run.h"
#include "cuda/emulation.h"
#include "engine/schedule/precompile.h"
#include "support/interpreter.h"
#include "support/random_network.h"

namespace torchtrt::cuda::testing {
namespace {

using network::Weights;

TEST(NetworksWithBinaries, RunWhereThereIsNoCompiler) {
  if (torchtrt::testing::testDevice().properties().name != "emulated GPU") {
    GTEST_SKIP() << "takes the compiler away";
  }
  for (const uint64_t seed : test::seedsToTry(30)) {
    SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
    const auto network = test::randomNetwork(seed);
    plan::Plan plan = builder::optimizeAndBuild(*network);
    plan.binaries = engine::precompiled(plan, "sm_90");
    const WithoutCompiler none;
    const auto engine = builder::loadPlan(plan);
    for (const int64_t batch : {2, 1, 4}) {
      const std::vector<Weights> inputs =
          torchtrt::testing::randomInputs(*network, static_cast<uint32_t>(seed), {{"n", batch}});
      std::vector<Weights> expected;
      try {
        expected = torchtrt::testing::interpret(*network, inputs);
      } catch (const InternalError&) {
        break;  // dims that fit together for some batches only
      }
      const std::vector<Weights> got = builder::runEngine(*engine, inputs);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_TRUE(torchtrt::testing::agree(got[i], expected[i])) << "output " << i << " for a batch of " << batch;
      }
    }
  }
}

}  // namespace
}  // namespace torchtrt::cuda::testing
