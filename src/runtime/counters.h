// Counts the calls of engines, by the names of the engines, for as long as the process lives. Always on: a call adds to
// a few numbers and reads the clock twice. counters() of torchtrt/runtime.h gives them as values.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "torchtrt/export.h"

namespace torchtrt::runtime {

// Of all engines with one name.
struct EngineCounts {
  std::atomic<uint64_t> calls = 0;        // that the engine ran
  std::atomic<uint64_t> nanoseconds = 0;  // of those
  std::atomic<uint64_t> fallbacks = 0;    // calls that PyTorch ran in the engine's place
  std::atomic<uint64_t> errors = 0;       // calls that ended in an error
  std::atomic<uint64_t> new_shapes = 0;   // sets of shapes that calls had to be prepared for
};

inline void count(std::atomic<uint64_t>& counter, uint64_t more = 1) {
  counter.fetch_add(more, std::memory_order_relaxed);
}

// Lives as long as the process.
TORCHTRT_API EngineCounts& countsOf(const std::string& engine);

// The time of one call, counted once it is done.
class CountedCall {
 public:
  explicit CountedCall(EngineCounts& counts) : counts_(counts), start_(std::chrono::steady_clock::now()) {}
  void done() {
    count(counts_.calls);
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    count(counts_.nanoseconds, static_cast<uint64_t>(std::chrono::nanoseconds(elapsed).count()));
  }

 private:
  EngineCounts& counts_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace torchtrt::runtime
