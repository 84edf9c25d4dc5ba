// Random networks, built in every way and run through an engine, against the layer-by-layer interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "run.h"
#include "support/deferred_backend.h"
#include "support/interpreter.h"
#include "support/network_trial.h"
#include "support/random_network.h"
#include "support/seeds.h"

namespace torchtrt::builder {
namespace {

using network::Weights;

struct Way {
  const char* name;
  plan::Plan (*build)(const network::Network& network, const BuildOptions& options);
  BuildOptions options;
  bool force_reference;
  int threads;
  bool reversed_inputs;
};

// The asynchronous device replays the third call and later ones.
int callsOfEach() {
  return testing::testDevice().kind() == std::string_view("deferred") ? 4 : 1;
}

class RandomNetworks : public ::testing::TestWithParam<Way> {};

TEST_P(RandomNetworks, RunAsTheInterpreterSays) {
  size_t impossible = 0;
  const std::vector<uint64_t> seeds = test::seedsToTry(150);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE("TORCHTRT_SEED=" + std::to_string(seed));
    const auto network = test::randomNetwork(seed);
    const auto engine =
        loadPlan(GetParam().build(*network, GetParam().options), {.force_reference = GetParam().force_reference});
    for (const int64_t batch : {2, 1, 4}) {
      const std::vector<Weights> inputs =
          torchtrt::testing::randomInputs(*network, static_cast<uint32_t>(seed), {{"n", batch}});
      const std::optional<std::vector<Weights>> expected = torchtrt::testing::interpretIfPossible(*network, inputs);
      if (!expected) {
        ++impossible;
        continue;
      }
      for (int call = 0; call < callsOfEach(); ++call) {
        const std::vector<Weights> got = runEngine(*engine, inputs, GetParam().threads, GetParam().reversed_inputs);
        ASSERT_EQ(got.size(), expected->size());
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT_TRUE(torchtrt::testing::agree(got[i], (*expected)[i]))
              << "output " << i << " of call " << call << " of\n"
              << network::print(*network);
        }
      }
      if (network->symbols().empty()) {
        break;
      }
    }
    if (HasFailure()) {
      return;
    }
  }
  if (callsOfEach() > 1) {
    EXPECT_GT(torchtrt::testing::deferredDevice().replays(), 100U);
  }
  EXPECT_LT(impossible, std::max<size_t>(5, seeds.size() / 30));
}

INSTANTIATE_TEST_SUITE_P(EveryWay, RandomNetworks,
                         ::testing::Values(Way{"AsTheyAre", build, {.channels_last = false}, true, 1, false},
                                           Way{"ChannelsLast", build, {}, true, 1, false},
                                           Way{"Fast", build, {}, false, 2, false},
                                           Way{"Optimized", optimizeAndBuild, {}, false, 1, false},
                                           Way{"StridedInputs", optimizeAndBuild, {}, false, 2, true}),
                         [](const auto& info) { return std::string(info.param.name); });

// The short form of tests/fuzz/network_fuzz.cpp.
TEST(RandomNetworks, OfOddSizesRunAsTheInterpreterSays) {
  size_t impossible = 0;
  const std::vector<uint64_t> seeds = test::seedsToTry(60);
  for (const uint64_t seed : seeds) {
    const auto network = test::networkOfOddSizes(seed, 8);
    if (network == nullptr) {
      ++impossible;
      continue;
    }
    EXPECT_EQ(torchtrt::testing::compareWithInterpreter(*network, seed), "") << "seed " << seed << " of\n"
                                                                             << network::print(*network);
  }
  EXPECT_LT(impossible, std::max<size_t>(15, seeds.size() / 4));
}

TEST(RandomNetworks, BytesAreTheSameEveryTime) {
  for (const uint64_t seed : test::seedsToTry(30)) {
    const auto network = test::randomNetwork(seed);
    EXPECT_TRUE(plan::serialize(optimizeAndBuild(*network)) ==
                plan::serialize(optimizeAndBuild(*test::randomNetwork(seed))))
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace torchtrt::builder
