// parallelFor on OpenMP, or on a pool of std::thread where OpenMP is off (the thread sanitizer does not understand
// libgomp).
#include "cpu/threads/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <sched.h>

#include "cpu/threads/helpers.h"
#include "device/device.h"

#ifdef TORCHTRT_NO_OPENMP
#include "cpu/threads/thread_pool.h"
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

// A run of the parts that a loop is cut into.
struct Parts {
  uint32_t begin;
  uint32_t end;
  bool empty() const {
    return begin == end;
  }
  uint32_t half() const {
    return (end - begin + 1) / 2;
  }
};

// The rest of one thread's share, on a cache line of its own.
struct alignas(64) Share {
  std::atomic<Parts> left;
};
static_assert(std::atomic<Parts>::is_always_lock_free);

// Returns as many shares as a loop of this thread needs. Loops do not nest, so one buffer serves them all.
Share* sharesOf(int64_t count) {
  thread_local std::unique_ptr<Share[]> shares;
  thread_local int64_t capacity = 0;
  if (count > capacity) {
    shares = std::make_unique<Share[]>(static_cast<size_t>(count));
    capacity = count;
  }
  return shares.get();
}

// A loop's range, cut into parts of which each thread owns a share. A thread takes half of what is left of its share at
// a time, from the front; one that has nothing left takes half of another's, from the back. So each stays with its own
// part of the data while all are equally fast, and none waits for one that was interrupted or shares its core.
class Loop {
 public:
  Loop(int64_t begin, int64_t end, int64_t threads, int64_t grain, detail::LoopBody body, void* state)
      : begin_(begin),
        size_(end - begin),
        threads_(threads),
        core_(sched_getcpu()),
        body_(body),
        state_(state),
        shares_(sharesOf(threads)) {
    constexpr int64_t kPartsOfShare = 32;
    const int64_t each = std::clamp<int64_t>(size_ / std::max<int64_t>(grain, 1) / threads, 1, kPartsOfShare);
    parts_ = threads * each;
    for (int64_t i = 0; i < threads; ++i) {
      shares_[i].left.store({static_cast<uint32_t>(i * each), static_cast<uint32_t>((i + 1) * each)},
                            std::memory_order_relaxed);
    }
  }

  // Works on share `own`, then on what others have left.
  void run(int64_t own) noexcept {
    const InsideLoop inside;
    if (sched_getcpu() == core_ && std::this_thread::get_id() != caller_) {
      on_callers_core_.store(true, std::memory_order_relaxed);
    }
    while (true) {
      Parts parts = takeFront(own);
      for (int64_t i = 1; i < threads_ && parts.empty(); ++i) {
        // Kept as a share, of which others take in turn.
        shares_[own].left.store(takeBack((own + i) % threads_), std::memory_order_relaxed);
        parts = takeFront(own);
      }
      if (parts.empty()) {
        return;
      }
      work(parts);
    }
  }

  // Once all threads are done.
  void tell(Helpers& helpers) const {
    if (on_callers_core_.load(std::memory_order_relaxed)) {
      helpers.sharedACore(Helpers::Clock::now());
    } else {
      helpers.hadCores();
    }
  }

  void rethrow() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  Parts takeFront(int64_t share) {
    return take(share, [](Parts& left) {
      const uint32_t cut = left.begin + left.half();
      return Parts{std::exchange(left.begin, cut), cut};
    });
  }
  Parts takeBack(int64_t share) {
    return take(share, [](Parts& left) {
      const uint32_t cut = left.end - left.half();
      return Parts{cut, std::exchange(left.end, cut)};
    });
  }
  template <typename Cut>
  Parts take(int64_t share, const Cut& cut) {
    std::atomic<Parts>& left = shares_[share].left;
    Parts now = left.load(std::memory_order_relaxed);
    while (!now.empty()) {
      Parts rest = now;
      const Parts taken = cut(rest);
      if (left.compare_exchange_weak(now, rest, std::memory_order_relaxed)) {
        return taken;
      }
    }
    return now;
  }

  void work(const Parts& parts) noexcept {
    if (failed_.load(std::memory_order_relaxed)) {
      return;
    }
    try {
      body_(state_, begin_ + size_ * parts.begin / parts_, begin_ + size_ * parts.end / parts_);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failed_.exchange(true)) {
        error_ = std::current_exception();
      }
    }
  }

  int64_t begin_, size_, threads_;
  int core_;  // the caller's when the loop began
  std::thread::id caller_ = std::this_thread::get_id();
  int64_t parts_ = 0;
  detail::LoopBody body_;
  void* state_;
  Share* shares_;
  std::atomic<bool> on_callers_core_ = false;
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

Helpers& helpersOfThisThread() {
  thread_local Helpers helpers;
  return helpers;
}

namespace detail {

void parallelFor(int threads, int64_t begin, int64_t end, int64_t grain, LoopBody body, void* state) {
  if (begin >= end) {
    return;
  }
  const int64_t worth = std::min<int64_t>(threads, (end - begin) / std::max<int64_t>(grain, 1));
  if (worth <= 1 || isInsideLoop()) {
    body(state, begin, end);
    return;
  }
  Helpers& helpers = helpersOfThisThread();
  const int64_t count = helpers.threadsOf(worth);
  if (count == 1) {
    body(state, begin, end);
    return;
  }
  Loop loop(begin, end, count, grain, body, state);
#ifdef TORCHTRT_NO_OPENMP
  runOnPool(count, [&](int64_t share) { loop.run(share); });
#else
// The runtime may grant fewer threads than asked for: what the others would own is taken from them.
#pragma omp parallel num_threads(static_cast <int>(count))
  loop.run(omp_get_thread_num());
#endif
  if (count <= device::cpu().properties().cores) {  // of more than that some share a core, as somebody wished
    loop.tell(helpers);
  }
  loop.rethrow();
}

}  // namespace detail

#ifdef TORCHTRT_NO_OPENMP
void onEachThread(int, const std::function<void()>& body) {
  body();
}
int currentThreads() {
  return device::cpu().properties().cores;
}
ThreadScope::ThreadScope(int threads) : previous_(threads) {}
ThreadScope::~ThreadScope() = default;
#else
void onEachThread(int threads, const std::function<void()>& body) {
  if (threads <= 1 || isInsideLoop()) {
    body();
    return;
  }
  sharesOf(threads);
#pragma omp parallel num_threads(threads)
  body();
}
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
