#include "compiler/segments/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace torchtrt::compiler {
namespace {

std::function<void()> takes(std::chrono::milliseconds time) {
  return [time] { std::this_thread::sleep_for(time); };
}

TEST(Tuning, RefusesTheSlowerEngine) {
  using std::chrono_literals::operator""ms;
  const auto refusal = refuseIfSlower(takes(8ms), takes(1ms));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, "slower");
  EXPECT_THAT(refusal->reason, testing::MatchesRegex("slower than PyTorch on the sample inputs: [0-9.]+ ms in an "
                                                     "engine, [0-9.]+ ms in PyTorch"));
}

TEST(Tuning, TakesTheFasterEngineAndTheOneAsFast) {
  using std::chrono_literals::operator""ms;
  EXPECT_FALSE(refuseIfSlower(takes(1ms), takes(8ms)));
  const auto nothing = [] {};
  EXPECT_FALSE(refuseIfSlower(nothing, takes(1ms)));
}

TEST(Tuning, ThrowsWhatTheWorkThrows) {
  EXPECT_THROW(refuseIfSlower([] { throw std::runtime_error("no"); }, [] {}), std::runtime_error);
}

}  // namespace
}  // namespace torchtrt::compiler
