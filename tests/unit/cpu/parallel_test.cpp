#include "cpu/threads/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace torchtrt::kernels {
namespace {

// Runs on a thread whose helpers nobody has found on its core yet: its first loops ask for all of them.
template <typename Body>
void onNewThread(const Body& body) {
  std::thread(body).join();
}

struct Chunk {
  int64_t begin, end;
};

std::vector<Chunk> chunksOf(int threads, int64_t begin, int64_t end, int64_t grain) {
  std::mutex mutex;
  std::vector<Chunk> chunks;
  onNewThread([&] {
    parallelFor(threads, begin, end, grain, [&](int64_t b, int64_t e) {
      const std::lock_guard<std::mutex> lock(mutex);
      chunks.push_back({b, e});
    });
  });
  return chunks;
}

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const int64_t count : {1, 2, 5, 100, 1001}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      parallelFor(threads, 10, 10 + count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          ++seen[static_cast<size_t>(i - 10)];
        }
      });
      for (const std::atomic<int>& times : seen) {
        ASSERT_EQ(times, 1) << threads << " threads, " << count << " indices";
      }
    }
  }
}

TEST(ParallelFor, DoesNothingForAnEmptyRange) {
  EXPECT_TRUE(chunksOf(4, 3, 3, 1).empty());
  EXPECT_TRUE(chunksOf(4, 5, 3, 1).empty());
}

TEST(ParallelFor, KeepsChunksAtLeastAsLargeAsTheGrain) {
  for (const int64_t count : {1, 9, 10, 19, 20, 25, 95}) {
    int small = 0;
    for (const Chunk& chunk : chunksOf(4, 0, count, 10)) {
      small += chunk.end - chunk.begin < 10 && chunk.end != count ? 1 : 0;
    }
    EXPECT_EQ(small, 0) << count;
  }
  EXPECT_EQ(chunksOf(4, 0, 19, 10).size(), 1u);
  EXPECT_GE(chunksOf(4, 0, 100, 10).size(), 4u);
}

TEST(ParallelFor, TakesOverWhatAThreadLeavesThatIsHeldUp) {
  constexpr int64_t kCount = 6400;
  std::atomic<int64_t> others = 0;
  int64_t held = 0;  // indices of the chunk that waits
  onNewThread([&] {
    parallelFor(2, 0, kCount, 1, [&](int64_t begin, int64_t end) {
      if (begin != 0) {
        others += end - begin;
        return;
      }
      held = end;
      while (others + held < kCount) {  // for ever, if the rest of this thread's share were left to it
        std::this_thread::yield();
      }
    });
  });
  EXPECT_EQ(others + held, kCount);
  EXPECT_LT(held, kCount / 2);
}

TEST(ParallelFor, HasNoMostThreads) {
  std::atomic<int64_t> sum = 0;
  parallelFor(200, 0, 100'000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, 100'000);
}

TEST(ParallelFor, RunsNestedLoopsSerially) {
  std::atomic<int> inner_chunks = 0;
  onNewThread([&] {
    parallelFor(2, 0, 2, 1, [&](int64_t, int64_t) {
      const std::thread::id caller = std::this_thread::get_id();
      parallelFor(4, 0, 100, 1, [&](int64_t begin, int64_t end) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_EQ(end - begin, 100);
        ++inner_chunks;
      });
    });
  });
  EXPECT_EQ(inner_chunks, 2);
}

TEST(ParallelFor, RethrowsWhatAChunkThrew) {
  for (const int threads : {1, 3}) {
    EXPECT_THROW(parallelFor(threads, 0, 30, 1,
                             [](int64_t begin, int64_t) {
                               if (begin == 0) {
                                 throw std::runtime_error("from a chunk");
                               }
                             }),
                 std::runtime_error);
  }
  EXPECT_GE(chunksOf(3, 0, 30, 1).size(), 3u);  // and works afterwards
}

TEST(ParallelFor, MayBeCalledFromManyThreads) {
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        parallelFor(3, 0, 100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  EXPECT_EQ(sum, 4 * 50 * 100);
}

TEST(ThreadScope, SetsTheTeamSizeAndRestoresIt) {
  const int before = currentThreads();
  ASSERT_GE(before, 1);
#ifndef TORCHTRT_NO_OPENMP
  {
    const ThreadScope scope(before + 3);
    EXPECT_EQ(currentThreads(), before + 3);
  }
#endif
  EXPECT_EQ(currentThreads(), before);
}

}  // namespace
}  // namespace torchtrt::kernels
