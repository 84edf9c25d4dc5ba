#include "cpu/threads/helpers.h"

#include <gtest/gtest.h>

namespace torchtrt::kernels {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Runs a loop at `now`, after which all have waited long enough.
void share(Helpers& helpers, Helpers::Clock::time_point now) {
  for (int i = 0; i < Helpers::kPatience; ++i) {
    helpers.sharedACore(now);
  }
}

TEST(Helpers, AreAllAskedWhileEachHasACore) {
  Helpers helpers;
  for (int loop = 0; loop < 10; ++loop) {
    EXPECT_EQ(helpers.threadsOf(4), 4);
    helpers.hadCores();
  }
}

TEST(Helpers, AreForgivenASingleLoopOnTheCallersCore) {
  Helpers helpers;
  for (int loop = 0; loop < 10; ++loop) {
    helpers.sharedACore({});
    helpers.hadCores();
    EXPECT_EQ(helpers.threadsOf(2, {}), 2);
  }
}

TEST(Helpers, AreLeftOutForAWhile) {
  Helpers helpers;
  const Helpers::Clock::time_point now;
  share(helpers, now);
  EXPECT_EQ(helpers.threadsOf(2, now), 1);
  EXPECT_EQ(helpers.threadsOf(2, now + Helpers::kShortestPause - milliseconds(1)), 1);
  EXPECT_EQ(helpers.threadsOf(2, now + Helpers::kShortestPause), 2);
}

TEST(Helpers, AreLeftOutLongerEachTimeUntilAllHaveCores) {
  Helpers helpers;
  Helpers::Clock::time_point now;
  share(helpers, now);
  for (Helpers::Clock::duration pause = Helpers::kShortestPause;; pause *= 2) {
    now += std::min(pause, Helpers::kLongestPause);
    ASSERT_EQ(helpers.threadsOf(2, now - milliseconds(1)), 1);
    ASSERT_EQ(helpers.threadsOf(2, now), 2);
    helpers.sharedACore(now);  // once is enough now
    ASSERT_EQ(helpers.threadsOf(2, now), 1);
    if (pause > Helpers::kLongestPause) {
      break;
    }
  }
  now += Helpers::kLongestPause;
  ASSERT_EQ(helpers.threadsOf(2, now), 2);
  helpers.hadCores();
  share(helpers, now);
  EXPECT_EQ(helpers.threadsOf(2, now + Helpers::kShortestPause), 2);
}

TEST(Helpers, AreHalvedWhileSomeStillShareTheCallersCore) {
  Helpers helpers;
  const Helpers::Clock::time_point now;
  for (const int64_t threads : {8, 4, 2, 1}) {
    share(helpers, now);
    EXPECT_EQ(helpers.threadsOf(16, now), threads);
  }
  helpers.hadCores();
  EXPECT_EQ(helpers.threadsOf(16, now), 1)
      << "those who are left have cores: no reason to ask more before the pause ends";
  EXPECT_EQ(helpers.threadsOf(16, now + seconds(1)), 16);
}

}  // namespace
}  // namespace torchtrt::kernels
