// Decides how many threads help a caller with its loops. It keeps account, and starts no thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "torchtrt/export.h"

namespace torchtrt::kernels {

// The account of one caller. If other processes keep all cores busy, the system may leave a helping thread on the core
// of the caller. The two then wait for each other by turns of the scheduler, some milliseconds for each loop, however
// short. So fewer threads help for a while, longer each time it happens again.
class Helpers {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kPatience = 2;  // loops: the system moves most threads soon after it woke them
  static constexpr Clock::duration kShortestPause = std::chrono::milliseconds(10);
  static constexpr Clock::duration kLongestPause = std::chrono::milliseconds(160);

  // Returns how many of `wanted` threads, the caller among them, shall work on the next loop.
  int64_t threadsOf(int64_t wanted) {
    return halvings_ == 0 ? wanted : threadsOf(wanted, Clock::now());  // the clock is read where it is needed only
  }
  int64_t threadsOf(int64_t wanted, Clock::time_point now) {
    if (halvings_ > 0 && now >= end_of_pause_) {
      halvings_ = 0;
      loops_on_one_core_ = kPatience - 1;  // the next one that is found there is enough
    }
    return std::max<int64_t>(1, wanted >> halvings_);
  }

  // Each had a core of its own in the last loop.
  void hadCores() {
    loops_on_one_core_ = 0;
    if (halvings_ == 0) {
      pause_ = kShortestPause;
    }
  }

  // One ran on the caller's core.
  void sharedACore(Clock::time_point now) {
    constexpr int kMostHalvings = 32;
    if (++loops_on_one_core_ >= kPatience) {
      loops_on_one_core_ = 0;
      halvings_ = std::min(halvings_ + 1, kMostHalvings);
      end_of_pause_ = now + pause_;
      pause_ = std::min(2 * pause_, kLongestPause);
    }
  }

 private:
  int halvings_ = 0;           // of the number of threads, until the end of a pause
  int loops_on_one_core_ = 0;  // one after the other
  Clock::time_point end_of_pause_;
  Clock::duration pause_ = kShortestPause;  // the next one
};

// Returns the helpers of the calling thread.
TORCHTRT_API Helpers& helpersOfThisThread();

}  // namespace torchtrt::kernels
