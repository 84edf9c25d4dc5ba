#ifdef TORCHTRT_NO_OPENMP
#include "cpu/threads/thread_pool.h"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace torchtrt::kernels {
namespace {

struct Job {
  const std::function<void(int64_t)>* task;
  int64_t remaining;
};

class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  void run(int64_t count, const std::function<void(int64_t)>& task) {
    Job job{&task, count - 1};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      while (static_cast<int64_t>(threads_.size()) < count - 1) {
        threads_.emplace_back([this] { work(); });
      }
      for (int64_t i = 1; i < count; ++i) {
        queue_.emplace_back(&job, i);
      }
    }
    wake_.notify_all();
    task(0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return job.remaining == 0; });
  }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) {
        return;
      }
      const auto [job, index] = queue_.front();
      queue_.pop_front();
      lock.unlock();
      (*job->task)(index);
      lock.lock();
      if (--job->remaining == 0) {
        done_.notify_all();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::deque<std::pair<Job*, int64_t>> queue_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
};

// A forked child has none of its parent's threads: it starts a pool of its own and leaves the parent's as it was.
Pool& pool() {
  static std::mutex mutex;
  static pid_t owner = 0;
  static std::unique_ptr<Pool> current;
  const std::lock_guard<std::mutex> lock(mutex);
  if (owner != getpid()) {
    static_cast<void>(current.release());
    current = std::make_unique<Pool>();
    owner = getpid();
  }
  return *current;
}

}  // namespace

void runOnPool(int64_t count, const std::function<void(int64_t)>& task) {
  pool().run(count, task);
}

}  // namespace torchtrt::kernels
#endif
