// Runs bodies in threads that begin at the same moment.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace torchtrt::testing {

// Returns when all have ended.
inline void runTogether(const std::vector<std::function<void()>>& bodies) {
  std::barrier start(static_cast<std::ptrdiff_t>(bodies.size()));
  std::vector<std::thread> threads;
  for (const auto& body : bodies) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      body();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace torchtrt::testing
