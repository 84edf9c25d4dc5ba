#include "device/constants.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "base/align.h"
#include "device/device.h"
#include "torchtrt/error.h"

namespace torchtrt::device {
namespace {

struct Piece {
  std::shared_ptr<void> memory;
  size_t bytes = 0;
  unsigned char mark = 0;

  bool holdsItsMark() const {
    const auto* at = static_cast<const unsigned char*>(memory.get());
    for (size_t i = 0; i < bytes; ++i) {
      if (at[i] != mark) {
        return false;
      }
    }
    return true;
  }
};

// Takes and lets go `steps` times; false if a piece was not aligned or another wrote into it.
bool takeAndLetGo(unsigned seed, int steps) {
  std::mt19937 random(seed);
  std::vector<Piece> pieces;
  bool good = true;
  for (int step = 0; step < steps; ++step) {
    if (pieces.empty() || random() % 5 < 3) {
      const size_t bytes = 1 + random() % (random() % 8 == 0 ? 3'000'000 : 20'000);
      Piece piece{allocateConstant(bytes, "test"), bytes, static_cast<unsigned char>(random())};
      std::memset(piece.memory.get(), piece.mark, bytes);
      good = good && reinterpret_cast<uintptr_t>(piece.memory.get()) % kAlignment == 0;
      pieces.push_back(std::move(piece));
    } else if (step % 7 == 0) {
      trimConstants();
    } else {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      good = good && pieces.back().holdsItsMark();
      pieces.pop_back();
    }
  }
  for (const Piece& piece : pieces) {
    good = good && piece.holdsItsMark();
  }
  return good;
}

TEST(Constants, PiecesNeverOverlap) {
  EXPECT_TRUE(takeAndLetGo(1, 2000));
}

TEST(Constants, AnyThreadMayAsk) {
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] { good += takeAndLetGo(seed, 500) ? 1 : 0; });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good, 4);
}

TEST(Constants, OfNoBytesAreNull) {
  EXPECT_EQ(allocateConstant(0, "test"), nullptr);
}

TEST(Constants, LargerThanAllSharedMemoryHaveTheirOwn) {
  const size_t bytes = size_t{20} << 20;
  const std::shared_ptr<void> memory = allocateConstant(bytes, "test");
  ASSERT_NE(memory, nullptr);
  std::memset(memory.get(), 1, bytes);
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
size_t residentBytes() {
  size_t all = 0;
  size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
}

// Matrices of 768 x 768 floats, the weights of many transformers.
TEST(Constants, TakeLittleMoreMemoryThanTheyHold) {
  constexpr size_t kBytes = size_t{768} * 768 * 4;
  constexpr size_t kCount = 56;
  std::vector<std::shared_ptr<void>> pieces;
  pieces.reserve(kCount);
  const size_t before = residentBytes();
  for (size_t i = 0; i < kCount; ++i) {
    pieces.push_back(allocateConstant(kBytes, "test"));
    std::memset(pieces.back().get(), 1, kBytes);
  }
  EXPECT_LT(static_cast<double>(residentBytes() - before), 1.06 * kBytes * kCount);
}

// Behind a piece that begins a huge page the rest of it is resident as well, where the system gives huge pages at all.
TEST(Constants, TrimmedTakeNoHugePageForASmallPiece) {
  constexpr size_t kBytes = 200'000;
  const size_t before = residentBytes();
  const std::shared_ptr<void> piece = allocateConstant(kBytes, "test");
  std::memset(piece.get(), 1, kBytes);
  trimConstants();
  EXPECT_LT(residentBytes() - before, kBytes + 100'000);
  EXPECT_EQ(static_cast<unsigned char*>(piece.get())[kBytes - 1], 1);
}
#endif

TEST(Constants, TooManyBytesAreNamed) {
  try {
    allocateConstant(size_t{1} << 60, "packing weights");
    FAIL() << "an exabyte was promised";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    EXPECT_NE(std::string(error.what()).find("packing weights: wanted 1152921504606846976 bytes"), std::string::npos);
  }
}

#if !defined(__SANITIZE_THREAD__)
TEST(Constants, AChildMayAskWhileItsParentsThreadsDo) {
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) {
      allocateConstant(1000, "test");
    }
  });
  int failed = 0;
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(allocateConstant(1000, "test") == nullptr ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    failed += status == 0 ? 0 : 1;
  }
  stop = true;
  busy.join();
  EXPECT_EQ(failed, 0);
}
#endif

}  // namespace
}  // namespace torchtrt::device
