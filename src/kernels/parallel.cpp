// parallelFor on OpenMP, or on a pool of std::thread where OpenMP is off (the thread sanitizer does not understand
// libgomp).
#include "kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#ifdef TORCHTRT_NO_OPENMP
#include "device/device.h"
#include "kernels/thread_pool.h"
#else
#include <omp.h>
#endif

namespace torchtrt::kernels {
namespace {

// True on a thread that is working on a chunk of a parallel loop: loops inside it run serially.
thread_local bool inside_loop = false;

class InsideLoop {
 public:
  InsideLoop() : previous_(inside_loop) {
    inside_loop = true;
  }
  ~InsideLoop() {
    inside_loop = previous_;
  }
  InsideLoop(const InsideLoop&) = delete;
  InsideLoop& operator=(const InsideLoop&) = delete;

 private:
  bool previous_;
};

// The range cut into chunks of equal size (the last may be smaller), and the first exception of any of them.
class Chunks {
 public:
  Chunks(int64_t begin, int64_t end, int64_t count, detail::LoopBody body, void* state)
      : begin_(begin), end_(end), count_(count), size_((end - begin + count - 1) / count), body_(body), state_(state) {}

  int64_t count() const {
    return count_;
  }
  void run(int64_t chunk) noexcept {
    const InsideLoop inside;
    const int64_t begin = begin_ + chunk * size_;
    const int64_t end = std::min(end_, begin + size_);
    if (begin >= end || failed_.load(std::memory_order_relaxed)) {
      return;
    }
    try {
      body_(state_, begin, end);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failed_.exchange(true)) {
        error_ = std::current_exception();
      }
    }
  }
  void rethrow() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  int64_t begin_, end_, count_, size_;
  detail::LoopBody body_;
  void* state_;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
};

bool isInsideLoop() {
#ifndef TORCHTRT_NO_OPENMP
  if (omp_in_parallel() != 0) {
    return true;
  }
#endif
  return inside_loop;
}

}  // namespace

namespace detail {

void parallelFor(int threads, int64_t begin, int64_t end, int64_t grain, LoopBody body, void* state) {
  if (begin >= end) {
    return;
  }
  const int64_t count = std::min<int64_t>(threads, (end - begin) / std::max<int64_t>(grain, 1));
  if (count <= 1 || isInsideLoop()) {
    body(state, begin, end);
    return;
  }
  Chunks chunks(begin, end, count, body, state);
#ifdef TORCHTRT_NO_OPENMP
  runOnPool(chunks.count(), [&](int64_t chunk) { chunks.run(chunk); });
#else
#pragma omp parallel num_threads(static_cast <int>(count))
  // The runtime may grant fewer threads than asked for.
  for (int64_t chunk = omp_get_thread_num(); chunk < chunks.count(); chunk += omp_get_num_threads()) {
    chunks.run(chunk);
  }
#endif
  chunks.rethrow();
}

}  // namespace detail

#ifdef TORCHTRT_NO_OPENMP
int currentThreads() {
  return device::cpu().properties().cores;
}
ThreadScope::ThreadScope(int threads) : previous_(threads) {}
ThreadScope::~ThreadScope() = default;
#else
int currentThreads() {
  return omp_get_max_threads();
}
ThreadScope::ThreadScope(int threads) : previous_(omp_get_max_threads()) {
  omp_set_num_threads(std::max(threads, 1));
}
ThreadScope::~ThreadScope() {
  omp_set_num_threads(previous_);
}
#endif

}  // namespace torchtrt::kernels
