#include "runtime/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>

#include "torchtrt/runtime.h"

namespace torchtrt::runtime {

namespace {

// libgomp keeps a team per thread. The one thread that survives a fork still has its team's bookkeeping but none of its
// threads and would wait for them forever; threads started later in the child get teams of their own.
thread_local bool team_is_lost = false;

// A thread that works for another one while that waits.
class StandIn {
 public:
  StandIn() : thread_([this] { serve(); }) {}
  ~StandIn() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  void run(const std::function<void()>& body) {
    std::unique_lock<std::mutex> lock(mutex_);
    body_ = &body;
    changed_.notify_all();
    changed_.wait(lock, [this] { return body_ == nullptr; });
    if (error_) {
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
  }

 private:
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return body_ != nullptr || ended_; });
      if (ended_) {
        return;
      }
      try {
        (*body_)();
      } catch (...) {
        error_ = std::current_exception();
      }
      body_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr error_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the others
};
thread_local std::unique_ptr<StandIn> stand_in;  // of a thread whose team is lost, once it was needed

std::optional<int> roundedUp(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) {
    return std::nullopt;
  }
  return static_cast<int>(std::min<int64_t>((quota + period - 1) / period, 1 << 16));
}

// "200000 100000" or "max 100000".
std::optional<int> readVersion2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  int64_t quota = 0;
  int64_t period = 0;
  if (!(file >> quota >> period)) {
    return std::nullopt;
  }
  return roundedUp(quota, period);
}

std::optional<int> readVersion1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  int64_t quota = 0;
  int64_t period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) {
    return std::nullopt;
  }
  return roundedUp(quota, period);
}

using Reader = std::optional<int> (*)(const std::string& folder);

// The mask, not older than a millisecond: to ask costs one of the twenty microseconds that a small network's call
// takes.
int recentAffinityThreads() {
  using Clock = std::chrono::steady_clock;
  thread_local int answer = 0;
  thread_local Clock::time_point asked;
  const Clock::time_point now = Clock::now();
  if (answer == 0 || now - asked > std::chrono::milliseconds(1)) {
    answer = affinityThreads();
    asked = now;
  }
  return answer;
}

int smallestOnTheWayUp(const std::string& mount, std::string path, Reader read) {
  int smallest = 0;
  while (true) {
    const std::optional<int> here = read(mount + path);
    if (here && (smallest == 0 || *here < smallest)) {
      smallest = *here;
    }
    if (path.empty()) {
      return smallest;
    }
    path.erase(path.find_last_of('/'));
  }
}

}  // namespace

int affinityThreads() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // More CPUs than the set holds (1024) is an error: then the mask does not bind us.
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) {
    return CPU_SETSIZE;
  }
  return std::max(1, CPU_COUNT(&mask));
}

int quotaThreads(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  int smallest = 0;
  for (std::string line; std::getline(groups, line);) {
    // "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path.empty() || path.front() != '/' || path == "/") {
      path.clear();
    }
    int here = 0;
    if (controllers.empty()) {
      here = smallestOnTheWayUp(root + "/sys/fs/cgroup", path, readVersion2);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      here = smallestOnTheWayUp(root + "/sys/fs/cgroup/cpu", path, readVersion1);
    }
    if (here > 0 && (smallest == 0 || here < smallest)) {
      smallest = here;
    }
  }
  return smallest;
}

void watchForks() {
  pthread_atfork(nullptr, nullptr, [] {
    team_is_lost = true;
    static_cast<void>(stand_in.release());  // its thread stayed in the parent, too, and cannot be waited for
  });
}

namespace {

int allowedThreads() {
  static const int quota = quotaThreads("");
  const int allowed = std::min(at::get_num_threads(), recentAffinityThreads());
  return std::max(1, quota > 0 ? std::min(allowed, quota) : allowed);
}

}  // namespace

int callThreads() {
  return team_is_lost || at::in_parallel_region() ? 1 : allowedThreads();
}

bool teamIsLost() {
  return team_is_lost;
}

bool waitsForLostTeam() {
  return team_is_lost && !at::in_parallel_region() && at::get_num_threads() > 1;
}

void onTeam(const std::function<void(int threads)>& body) {
  const int threads = team_is_lost && !at::in_parallel_region() ? allowedThreads() : 1;
  if (threads == 1) {
    body(callThreads());
    return;
  }
  if (!stand_in) {
    try {
      stand_in = std::make_unique<StandIn>();
    } catch (const std::system_error&) {  // there may be no more threads
      body(1);
      return;
    }
  }
  const at::ThreadLocalState state;  // inference mode, for one, belongs to a thread, and outputs are made over there
  stand_in->run([&] {
    const at::ThreadLocalStateGuard as_here(state);
    body(threads);
  });
}

}  // namespace torchtrt::runtime
