// Tries on random networks what holds for any network.
#include <gtest/gtest.h>

#include <set>

#include "support/random_network.h"
#include "support/seeds.h"

namespace torchtrt::network {
namespace {

TEST(RandomNetworks, AreValidAndKeepTheirTextThroughParserAndClone) {
  for (const uint64_t seed : test::seedsToTry(300)) {
    const auto network = test::randomNetwork(seed);
    PrintOptions options;
    options.locations = true;
    const std::string text = print(*network, options);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    ASSERT_NO_THROW(verify(*network));
    const auto parsed = parse(text, collectWeights(*network));
    ASSERT_NO_THROW(verify(*parsed));
    ASSERT_EQ(print(*parsed, options), text);
    const auto clone = network->clone();
    ASSERT_NO_THROW(verify(*clone));
    ASSERT_EQ(print(*clone, options), text);
  }
}

TEST(RandomNetworks, AreTheSameForTheSameSeed) {
  EXPECT_EQ(print(*test::randomNetwork(7)), print(*test::randomNetwork(7)));
  EXPECT_NE(print(*test::randomNetwork(7)), print(*test::randomNetwork(8)));
}

TEST(RandomNetworks, HaveEveryKindButPluginsAndReformats) {
  std::set<LayerType> seen;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const auto network = test::randomNetwork(seed);
    for (const Layer* layer : network->layers()) {
      seen.insert(layer->getType());
    }
  }
  for (const LayerInfo& info : layerTable()) {
    const bool left_out = info.type == LayerType::kPLUGIN_V2 || info.type == LayerType::kREFORMAT;
    EXPECT_EQ(seen.count(info.type) == 0, left_out) << info.name;
  }
}

TEST(RandomNetworks, StayAsTheyAreWhenSorted) {
  for (const uint64_t seed : test::seedsToTry(50)) {
    const auto network = test::randomNetwork(seed);
    const std::string before = print(*network);
    network->sortTopologically();
    ASSERT_EQ(print(*network), before) << "a sorted network stays as it is, seed " << seed;
  }
}

}  // namespace
}  // namespace torchtrt::network
