#include "cpu/threads/thread_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/threads/parallel.h"
#include "support/call_watch.h"

namespace torchtrt::kernels {
namespace {

using torchtrt::testing::watchCall;

// A thread that starts here keeps nothing yet.
template <typename Body>
void inThread(const Body& body) {
  std::thread(body).join();
}

TEST(ThreadMemory, TheSecondRunAllocatesNothing) {
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  inThread([] {
    const auto run = [] {
      ThreadVector<int64_t> grown;
      for (int64_t i = 0; i < 1000; ++i) {
        grown.push_back(i);
      }
      const ThreadMemory<float> inside = takeThreadMemory<float>(5000);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(inside.get()) % kAlignment, 0U);
      EXPECT_EQ(grown[999], 999);
    };
    EXPECT_GT(watchCall(1, run).allocations, 0);
    EXPECT_TRUE(watchCall(1, run).isQuiet());
  });
}

TEST(ThreadMemory, BlocksLieApartInWhateverOrderTheyGo) {
  inThread([] {
    std::mt19937 random(1);
    std::vector<std::pair<int, ThreadVector<int>>> blocks;
    for (int i = 0; i < 20'000; ++i) {
      if (blocks.empty() || random() % 2 == 0) {
        blocks.emplace_back(i, ThreadVector<int>(random() % 300, i));
      } else {
        const size_t place = random() % blocks.size();
        const auto& [value, block] = blocks[place];
        EXPECT_TRUE(std::all_of(block.begin(), block.end(), [&](int each) { return each == value; }));
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(place));
      }
      if (i % 1000 == 999) {
        blocks.clear();  // all: from here on the thread may keep more
      }
    }
  });
}

TEST(ThreadMemory, ABlockWithoutElementsIsABlock) {
  inThread([] {
    ThreadAllocator<float> allocator;
    float* const none = allocator.allocate(0);
    float* const one = allocator.allocate(1);
    EXPECT_NE(none, one);
    allocator.deallocate(none, 0);
    allocator.deallocate(one, 1);
  });
}

TEST(ThreadMemory, MuchIsKeptOnRequestAlone) {
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  constexpr size_t kMuch = size_t{3} << 20;
  const auto run = [] { takeThreadMemory<std::byte>(kMuch); };
  inThread([&] {
    run();
    EXPECT_EQ(watchCall(1, run).allocations, 1);
    keepThreadMemory(1);
    EXPECT_TRUE(watchCall(1, run).isQuiet());
  });
}

TEST(ThreadMemory, EveryThreadOfATeamKeepsIt) {
#ifdef TORCHTRT_NO_OPENMP
  GTEST_SKIP() << "without OpenMP there is no team";
#endif
  if (const auto why = torchtrt::testing::refuseToWatch()) {
    GTEST_SKIP() << *why;
  }
  inThread([] {
    takeThreadMemory<std::byte>(size_t{2} << 20);
    keepThreadMemory(2);
    const auto run = [] { onEachThread(2, [] { takeThreadMemory<std::byte>(size_t{2} << 20); }); };
    EXPECT_TRUE(watchCall(2, run).isQuiet());
  });
}

}  // namespace
}  // namespace torchtrt::kernels
