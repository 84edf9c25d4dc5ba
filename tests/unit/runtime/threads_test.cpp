#include "runtime/threads.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "cpu/threads/parallel.h"
#include "torchtrt/runtime.h"

namespace torchtrt::runtime {
namespace {

class Quota : public ::testing::Test {
 protected:
  Quota() : root_(std::filesystem::temp_directory_path() / ("torchtrt_quota_" + std::to_string(getpid()))) {}
  ~Quota() override {
    std::filesystem::remove_all(root_);
  }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int quota() const {
    return quotaThreads(root_.string());
  }

 private:
  std::filesystem::path root_;
};

TEST_F(Quota, IsNoneWithoutCgroups) {
  EXPECT_EQ(quota(), 0);
}

TEST_F(Quota, OfVersion2IsRoundedUp) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(Quota, MaxIsNone) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(Quota, TheSmallestOnTheWayUpBinds) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  write("/sys/fs/cgroup/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), 3);
}

TEST_F(Quota, OfVersion1IsFoundByItsController) {
  write("/proc/self/cgroup", "5:memory:/x\n4:cpuacct,cpu:/job\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "400000\n");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 4);
}

TEST_F(Quota, MinusOneOfVersion1IsNone) {
  write("/proc/self/cgroup", "4:cpu:/\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST(CallThreads, FollowsAffinityOfTheCallingThread) {
  int seen = 0;
  int cpu = 0;
  std::thread bound([&] {
    cpu_set_t mask;
    sched_getaffinity(0, sizeof(mask), &mask);
    while (!CPU_ISSET(cpu, &mask)) {
      ++cpu;
    }
    CPU_ZERO(&mask);
    CPU_SET(cpu, &mask);
    sched_setaffinity(0, sizeof(mask), &mask);
    seen = callThreads();
  });
  bound.join();
  EXPECT_EQ(seen, 1);
}

TEST(CallThreads, FollowsAten) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  EXPECT_EQ(callThreads(), 1);
  at::set_num_threads(before);
}

TEST(CallThreads, IsOneInsideOfAParallelRegion) {
  std::atomic<int> most = 0;
  kernels::parallelFor(2, 0, 2, 1, [&](int64_t, int64_t) { most = std::max(most.load(), callThreads()); });
  EXPECT_EQ(most, 1);
}

TEST(CallThreads, IsOneOnTheThreadThatWasForked) {
  const pid_t child = fork();
  if (child == 0) {
    int elsewhere = 0;
    std::thread([&] { elsewhere = callThreads(); }).join();
    const bool right = callThreads() == 1 && elsewhere >= 1;
    _exit(right ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Exits with what `body` returns.
template <typename Body>
int exitOfFork(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}

TEST(OnTeam, IsThisThreadItself) {
  std::thread::id ran;
  int threads = 0;
  onTeam([&](int given) {
    ran = std::this_thread::get_id();
    threads = given;
  });
  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_EQ(threads, callThreads());
}

TEST(OnTeam, AnotherThreadStandsInForOneThatWasForked) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  const int allowed = callThreads();
  std::atomic<int> sum = 0;
  const auto add = [&](int threads) {
    kernels::parallelFor(threads, 0, 100, 1, [&](int64_t begin, int64_t end) { sum += static_cast<int>(end - begin); });
  };
  onTeam(add);  // this thread has a team now, which is lost in a fork
  const auto works = [&] {
    sum = 0;
    std::thread::id ran;
    int given = 0;
    for (int i = 0; i < 3; ++i) {
      onTeam([&](int threads) {
        ran = std::this_thread::get_id();
        given = threads;
        add(threads);
      });
    }
    bool throws = false;
    try {
      onTeam([](int) { throw std::runtime_error("as is"); });
    } catch (const std::runtime_error&) {
      throws = true;
    }
    const bool elsewhere = ran != std::this_thread::get_id();
    return sum == 300 && given == allowed && elsewhere == (allowed > 1) && throws;
  };
  EXPECT_EQ(exitOfFork([&] { return works() ? 0 : 1; }), 0);
  EXPECT_EQ(exitOfFork([&] { return works() && exitOfFork([&] { return works() ? 0 : 1; }) == 0 ? 0 : 1; }), 0);
  at::set_num_threads(before);
}

TEST(OnTeam, ATensStateOfAThreadIsThatOfTheOneThatStandsIn) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  const auto is_same = [] {
    const auto seen = [] {
      bool inference = false;
      onTeam([&](int) { inference = c10::InferenceMode::is_enabled(); });
      return inference;
    };
    const bool outside = seen();
    const c10::InferenceMode inference;
    return !outside && seen();
  };
  EXPECT_TRUE(is_same());
  EXPECT_EQ(exitOfFork([&] { return is_same() && is_same() ? 0 : 1; }), 0);
  at::set_num_threads(before);
}

}  // namespace
}  // namespace torchtrt::runtime
