#include "engine/schedule/workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace torchtrt::engine {
namespace {

TEST(Workspace, AChainNeedsTwoPlaces) {
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < 10; ++i) {
    buffers.push_back({1024, i, i + 1});
  }
  EXPECT_EQ(layOut(buffers), 2048U);
}

TEST(Workspace, SmallOnesGoIntoTheGapsOfLargeOnes) {
  std::vector<Buffer> buffers = {{1000, 0, 1}, {1000, 1, 2}, {100, 2, 3}, {100, 0, 0}};
  EXPECT_EQ(layOut(buffers), 2048U);
}

// There are gaps of 640, 512 and 896 bytes at time 1, in this order, for a buffer of 384.
TEST(Workspace, OfSeveralGapsTheTightestIsTaken) {
  std::vector<Buffer> buffers = {{640, 0, 0}, {576, 0, 1}, {512, 0, 0}, {448, 0, 1},
                                 {448, 0, 0}, {448, 0, 0}, {448, 0, 1}, {384, 1, 1}};
  EXPECT_EQ(layOut(buffers), 3520U);
  EXPECT_EQ(buffers.back().offset, 1216U);
}

TEST(Workspace, NothingNeedsNothing) {
  std::vector<Buffer> buffers;
  EXPECT_EQ(layOut(buffers), 0U);
}

TEST(Workspace, NeitherOverlapsNorWastesMuch) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < 60; ++i) {
      buffers.push_back({1 + random() % 10000, i, i + random() % 6});
    }
    const size_t total = layOut(buffers);
    std::vector<size_t> alive(70, 0);
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(buffers[a].offset % 64, 0U);
      EXPECT_LE(buffers[a].offset + buffers[a].bytes, total);
      for (size_t t = buffers[a].first; t <= buffers[a].last; ++t) {
        alive[t] += (buffers[a].bytes + 63) / 64 * 64;
      }
      for (size_t b = 0; b < a; ++b) {
        const bool together = buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
        const bool apart = buffers[a].offset + buffers[a].bytes <= buffers[b].offset ||
                           buffers[b].offset + buffers[b].bytes <= buffers[a].offset;
        ASSERT_TRUE(!together || apart) << a << " and " << b;
      }
    }
    const size_t most = *std::max_element(alive.begin(), alive.end());
    EXPECT_LE(total, most * 3 / 2) << "the most that is alive at a time is " << most;
  }
}

}  // namespace
}  // namespace torchtrt::engine
