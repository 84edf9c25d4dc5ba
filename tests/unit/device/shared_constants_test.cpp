#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "device/constants.h"
#include "device/shared_pages.h"

namespace torchtrt::device {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBytes = size_t{3} << 20;  // more than a huge page, and not a multiple of it

// Does what an engine does: two pieces are written, then shared.
struct Constants {
  std::shared_ptr<void> first;
  std::shared_ptr<void> second;
  size_t shared = 0;

  explicit Constants(unsigned char mark) {
    SharedConstants scope;
    first = allocateConstant(kBytes, "test");
    std::memset(first.get(), mark, kBytes);
    second = allocateConstant(100, "test");
    std::memset(second.get(), mark + 1, 100);
    shared = scope.share();
  }
  bool hold(unsigned char mark) const {
    const auto* const a = static_cast<const unsigned char*>(first.get());
    const auto* const b = static_cast<const unsigned char*>(second.get());
    return std::all_of(a, a + kBytes, [&](unsigned char c) { return c == mark; }) &&
           std::all_of(b, b + 100, [&](unsigned char c) { return c == mark + 1; });
  }
};

// The number of the file that is mapped at an address; 0 for private memory.
uint64_t inodeAt(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %lu", &begin, &end, &inode) == 3 &&
        begin <= reinterpret_cast<uintptr_t>(address) && reinterpret_cast<uintptr_t>(address) < end) {
      return inode;
    }
  }
  return 0;
}

// Runs `body` in another process, which has the result as exit status.
pid_t start(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  return child;
}

int resultOf(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A folder of its own for every test, so that tests that run at the same time do not meet.
class SharedConstantsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "every constant has memory of its own there, so that reads beyond its end are found";
#endif
    std::string pattern = (fs::temp_directory_path() / "torchtrt-shared-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    parent_ = pattern;
    setenv("TORCHTRT_SHARE_WEIGHTS", parent_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TORCHTRT_SHARE_WEIGHTS");
    if (!parent_.empty()) {
      fs::remove_all(parent_);
    }
  }
  static std::vector<fs::path> offers() {
    return {fs::directory_iterator(folderOfOffers()), fs::directory_iterator()};
  }

  fs::path parent_;
};

TEST_F(SharedConstantsTest, EqualBytesAreOneFile) {
  const Constants a(7);
  const Constants b(7);
  EXPECT_GE(a.shared, kBytes);
  EXPECT_EQ(a.shared, b.shared);
  EXPECT_NE(inodeAt(a.first.get()), 0U);
  EXPECT_EQ(inodeAt(a.first.get()), inodeAt(b.first.get()));
  EXPECT_TRUE(a.hold(7));
  EXPECT_TRUE(b.hold(7));
}

TEST_F(SharedConstantsTest, OtherBytesAreAnotherFile) {
  const Constants a(7);
  const Constants b(9);
  EXPECT_NE(inodeAt(a.first.get()), inodeAt(b.first.get()));
  EXPECT_TRUE(a.hold(7));
  EXPECT_TRUE(b.hold(9));
}

TEST_F(SharedConstantsTest, AnotherProcessMapsTheSameFile) {
  const Constants mine(7);
  const uint64_t inode = inodeAt(mine.first.get());
  EXPECT_EQ(resultOf(start([&] {
              const Constants theirs(7);
              return inodeAt(theirs.first.get()) == inode && theirs.hold(7) ? 0 : 1;
            })),
            0);
}

TEST_F(SharedConstantsTest, TheFileOutlivesTheProcessThatMadeIt) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t maker = start([&] {
    const Constants theirs(7);
    const char done = 1;
    static_cast<void>(!write(ready[1], &done, 1));
    pause();
    return 0;
  });
  char done = 0;
  ASSERT_EQ(read(ready[0], &done, 1), 1);
  const Constants mine(7);
  kill(maker, SIGKILL);
  resultOf(maker);
  const uint64_t inode = inodeAt(mine.first.get());
  EXPECT_EQ(resultOf(start([&] { return inodeAt(Constants(7).first.get()) == inode ? 0 : 1; })), 0);
  EXPECT_TRUE(mine.hold(7));
  EXPECT_EQ(offers().size(), 1U);  // the dead process's offer was forgotten
}

TEST_F(SharedConstantsTest, WritingIsASegmentationFault) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, SIG_DFL);  // the thread sanitizer has a handler, which exits
        const Constants mine(7);
        static_cast<unsigned char*>(mine.first.get())[0] = 8;
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(SharedConstantsTest, NobodyCanChangeTheFile) {
  const Constants mine(7);
  const int file = open(offers().front().c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  EXPECT_NE(pwrite(file, "x", 1, 0), 1);
  EXPECT_NE(ftruncate(file, 0), 0);
  EXPECT_TRUE(mine.hold(7));
  close(file);
}

TEST_F(SharedConstantsTest, OffersGoWithTheLastPiece) {
  {
    const Constants mine(7);
    EXPECT_EQ(offers().size(), 1U);
  }
  EXPECT_TRUE(offers().empty());
}

TEST_F(SharedConstantsTest, AForkedChildLeavesItsParentsOffer) {
  auto mine = std::make_unique<Constants>(7);
  EXPECT_EQ(resultOf(start([&] {
              const bool good = mine->hold(7);
              mine.reset();
              return good ? 0 : 1;
            })),
            0);
  EXPECT_EQ(offers().size(), 1U);
}

// The name is the same, the bytes are not: an offer is never trusted.
TEST_F(SharedConstantsTest, AnOfferWithOtherBytesIsNotTaken) {
  std::string key;
  {
    const Constants mine(7);
    key = offers().front().filename().string();
    key = key.substr(0, key.find('.'));
  }
  const int other = memfd_create(("torchtrt:" + key).c_str(), MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(other, static_cast<off_t>(kBytes + 4096)), 0);
  const std::string link = folderOfOffers() + "/" + key + ".1.1";
  const std::string target = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(other);
  for (const int seals : {0, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL}) {
    ASSERT_EQ(fcntl(other, F_ADD_SEALS, seals), 0);
    fs::remove(link);
    fs::create_symlink(target, link);
    const Constants mine(7);
    struct stat state {};
    fstat(other, &state);
    EXPECT_GE(mine.shared, kBytes);
    EXPECT_NE(inodeAt(mine.first.get()), state.st_ino);
    EXPECT_TRUE(mine.hold(7));
  }
  close(other);
}

TEST_F(SharedConstantsTest, ForeignFilesAreForgottenUnopened) {
  fs::create_directory(folderOfOffers());
  fs::permissions(folderOfOffers(), fs::perms::owner_all);
  const std::string pipe = (parent_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);  // opening it would wait for ever
  for (const auto& [name, target] : {std::pair("a.1.1", pipe), std::pair("b.1.1", std::string("/proc/1/fd/99999")),
                                     std::pair("c", std::string("nowhere"))}) {
    fs::create_symlink(target, folderOfOffers() + "/" + name);
  }
  const Constants mine(7);
  EXPECT_GE(mine.shared, kBytes);
  EXPECT_EQ(offers().size(), 1U);
}

TEST_F(SharedConstantsTest, AFolderThatOthersWriteToIsNotUsed) {
  fs::create_directory(folderOfOffers());
  fs::permissions(folderOfOffers(), fs::perms::all);
  const Constants mine(7);
  EXPECT_EQ(mine.shared, 0U);
  EXPECT_TRUE(mine.hold(7));
}

TEST_F(SharedConstantsTest, WithoutAFolderEveryoneHasACopy) {
  setenv("TORCHTRT_SHARE_WEIGHTS", "/proc/nowhere", 1);
  Constants mine(7);
  EXPECT_EQ(mine.shared, 0U);
  static_cast<unsigned char*>(mine.first.get())[0] = 7;  // private memory can be written
  EXPECT_TRUE(mine.hold(7));
}

TEST_F(SharedConstantsTest, ProcessesThatRaceEndWithOneFile) {
  constexpr int kProcesses = 6;
  int inodes[2];
  ASSERT_EQ(pipe(inodes), 0);
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(start([&] {
      close(go[1]);
      char c = 0;
      static_cast<void>(!read(go[0], &c, 1));  // returns when the parent closes its end
      const Constants theirs(7);
      const uint64_t inode = inodeAt(theirs.first.get());
      static_cast<void>(!write(inodes[1], &inode, sizeof inode));
      pause();
      return 0;
    }));
  }
  close(go[1]);
  std::vector<uint64_t> seen(kProcesses);
  for (uint64_t& inode : seen) {
    ASSERT_EQ(read(inodes[0], &inode, sizeof inode), static_cast<ssize_t>(sizeof inode));
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    resultOf(child);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), seen.front()), kProcesses);
  EXPECT_NE(seen.front(), 0U);
}

TEST_F(SharedConstantsTest, SmallConstantsStayPrivate) {
  SharedConstants scope;
  const auto piece = allocateConstant(1000, "test");
  std::memset(piece.get(), 1, 1000);
  EXPECT_EQ(scope.share(), 0U);
}

TEST_F(SharedConstantsTest, AnotherThreadAllocatesApart) {
  SharedConstants scope;
  const auto mine = allocateConstant(kBytes, "test");
  std::memset(mine.get(), 1, kBytes);
  std::shared_ptr<void> theirs;
  std::thread([&] { theirs = allocateConstant(kBytes, "test"); }).join();
  ASSERT_GE(scope.share(), kBytes);
  std::memset(theirs.get(), 2, kBytes);
  EXPECT_EQ(static_cast<unsigned char*>(mine.get())[0], 1);
}

}  // namespace
}  // namespace torchtrt::device
