#include "engine/calls/replay.h"

#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "support/deferred_device.h"

namespace torchtrt::engine {
namespace {

using testing::DeferredDevice;

// Two actions, each of which notes the pointer that it is given when its work runs.
class NotedCalls {
 public:
  NotedCalls() {
    for (uint32_t i = 0; i < 2; ++i) {
      Action& action = schedule_.actions.emplace_back();
      action.first_input = action.scratch = i;
    }
  }

  // The pointers that the work of one call saw. With `fails`, giving the second action throws.
  std::vector<void*> run(const std::vector<void*>& pointers, bool fails = false) {
    seen_.clear();
    replay_.run(device_, {}, schedule_, pointers, [&](size_t action, device::Stream stream) {
      if (fails && action == 1) {
        throw std::bad_alloc();
      }
      device_.give(stream, {"note", {}, {}, [this, pointer = pointers[action]] { seen_.push_back(pointer); }});
    });
    device_.waitForAll();
    return seen_;
  }

  const DeferredDevice& device() const {
    return device_;
  }

 private:
  DeferredDevice device_;
  Schedule schedule_;
  Replay replay_;
  std::vector<void*> seen_;
};

TEST(Replay, ARenewalThatThrowsLeavesNoRecordingOfTwoCalls) {
  NotedCalls calls;
  int a = 0, b = 0, c = 0, d = 0;
  const std::vector<void*> first = {&a, &b}, other = {&c, &d};
  for (int call = 0; call < 4; ++call) {
    EXPECT_EQ(calls.run(first), first);
  }
  EXPECT_GT(calls.device().replays(), 0U);

  EXPECT_THROW(calls.run(other, /*fails=*/true), std::bad_alloc);

  EXPECT_EQ(calls.run(first), first);
  EXPECT_EQ(calls.run(other), other);
}

}  // namespace
}  // namespace torchtrt::engine
