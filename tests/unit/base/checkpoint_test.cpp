#include "base/checkpoint.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "torchtrt/error.h"

namespace torchtrt {
namespace {

TEST(Checkpoint, DoesNothingWithoutAScope) {
  checkpoint();
}

TEST(Checkpoint, CallsTheWatcherAtOnceAndNotAgainSoon) {
  int calls = 0;
  const CheckpointScope scope([&] { ++calls; });
  for (int i = 0; i < 1000; ++i) {
    checkpoint();
  }
  EXPECT_GE(calls, 1);
  EXPECT_LT(calls, 1000);
}

TEST(Checkpoint, InterruptsWithWhatTheWatcherThrewAgainAndAgain) {
  int calls = 0;
  const CheckpointScope scope([&] {
    ++calls;
    throw std::runtime_error("stop");
  });
  for (int i = 0; i < 3; ++i) {
    try {
      checkpoint();
      FAIL() << "no interruption";
    } catch (const std::exception&) {
      FAIL() << "what takes failures for a reason to fall back would take this one";
    } catch (const Interruption& interruption) {
      EXPECT_THROW(std::rethrow_exception(interruption.cause), std::runtime_error);
    }
  }
  EXPECT_EQ(calls, 1);
}

TEST(Checkpoint, AnInterruptionOfTheWatcherKeepsItsCause) {
  const CheckpointScope scope([] { throw Interruption{std::make_exception_ptr(7)}; });
  try {
    checkpoint();
    FAIL() << "no interruption";
  } catch (const Interruption& interruption) {
    EXPECT_THROW(std::rethrow_exception(interruption.cause), int);
  }
}

TEST(Checkpoint, TheOuterScopeGoesOnAfterTheInnerOne) {
  std::string calls;
  const CheckpointScope outer([&] { calls += "o"; });
  {
    const CheckpointScope inner([&] { calls += "i"; });
    checkpoint();
  }
  checkpoint();
  EXPECT_EQ(calls, "io");
}

}  // namespace
}  // namespace torchtrt
