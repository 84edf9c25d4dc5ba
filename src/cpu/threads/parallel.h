// The one door to threads: every parallel loop of torchtrt goes through parallelFor (OpenMP, or std::thread under the
// thread sanitizer). Nested calls run serially. oneDNN takes its thread count from ThreadScope.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include "torchtrt/export.h"

namespace torchtrt::kernels {

namespace detail {
using LoopBody = void (*)(void* state, int64_t begin, int64_t end);
TORCHTRT_API void parallelFor(int threads, int64_t begin, int64_t end, int64_t grain, LoopBody body, void* state);
}  // namespace detail

// body(chunk_begin, chunk_end) on disjoint chunks that cover [begin, end); no chunk is smaller than grain unless it is
// the last. A thread gets several chunks, and takes over some of those of a slower one. The first exception that a
// chunk throws is rethrown in the caller.
template <typename Body>
void parallelFor(int threads, int64_t begin, int64_t end, int64_t grain, Body&& body) {
  detail::parallelFor(
      threads, begin, end, grain,
      [](void* state, int64_t b, int64_t e) { (*static_cast<std::remove_reference_t<Body>*>(state))(b, e); }, &body);
}

// Runs the body once on each of the threads that a loop of so many would have, the caller among them. Without OpenMP,
// or inside of a loop, on the caller alone.
TORCHTRT_API void onEachThread(int threads, const std::function<void()>& body);

// The team size of the calling thread's next parallel region: what a caller that names no number of threads gets.
TORCHTRT_API int currentThreads();

// Makes the calling thread's OpenMP team size `threads` for the libraries we call, and restores it.
class TORCHTRT_API ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int previous_;
};

}  // namespace torchtrt::kernels
