// The asynchronous device of tests: what it promises, and the faults of its users that it finds.
#include "support/deferred_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "torchtrt/error.h"

namespace torchtrt::testing {
namespace {

using device::Memory;
using device::Stream;

// Streams are names for an order of work, nothing is made for them.
char names[2];
const Stream kFirst{&names[0]}, kSecond{&names[1]};

constexpr size_t kBytes = 256;

DeferredDevice::Work append(std::string& text, char letter) {
  return {"a letter", {}, {}, [&text, letter] { text += letter; }};
}

std::vector<unsigned char> read(const DeferredDevice& device, const Memory& memory, Stream stream = {}) {
  std::vector<unsigned char> bytes(memory.bytes());
  device.copyOut(bytes.data(), memory.data(), bytes.size(), stream);
  return bytes;
}

TEST(Deferred, RunsWhenSomebodyWaits) {
  const DeferredDevice device;
  std::string text;
  device.give({}, append(text, 'a'));
  device.give({}, append(text, 'b'));
  EXPECT_EQ(device.pendingWork(), 2U);
  EXPECT_EQ(text, "");
  device.wait({});
  EXPECT_EQ(device.pendingWork(), 0U);
  EXPECT_EQ(text, "ab");
}

TEST(Deferred, StreamsOvertakeEachOther) {
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const DeferredDevice device(seed);
    std::string text;
    for (const char letter : {'a', 'b'}) {
      device.give(kFirst, append(text, letter));
    }
    for (const char letter : {'x', 'y'}) {
      device.give(kSecond, append(text, letter));
    }
    device.wait(kFirst);
    EXPECT_LT(text.find('a'), text.find('b')) << text;
    EXPECT_NE(text.find('b'), std::string::npos) << text;
    seen.insert(text);
    device.wait(kSecond);
    EXPECT_LT(text.find('x'), text.find('y')) << text;
    EXPECT_EQ(text.size(), 4U);
  }
  EXPECT_GE(seen.size(), 5U);
  for (const char* text : {"ab", "xyab", "axyb"}) {
    EXPECT_EQ(seen.count(text), 1U) << text;
  }
}

TEST(Deferred, MemoryComesBackToItsStreamAtOnceAndToOthersBehindAWait) {
  const DeferredDevice device;
  Memory memory = device.allocate(kBytes, "test", kFirst);
  const void* const first = memory.data();
  device.zero(memory.data(), kBytes, kFirst);
  memory = Memory();
  Memory other = device.allocate(kBytes, "test", kSecond);
  EXPECT_NE(other.data(), first);
  memory = device.allocate(kBytes, "test", kFirst);
  EXPECT_EQ(memory.data(), first);
  EXPECT_EQ(read(device, memory, kFirst), std::vector<unsigned char>(kBytes, 0xFF)) << "and holds nothing of before";
  memory = Memory();
  device.wait(kFirst);
  other = device.allocate(kBytes, "test", kSecond);
  EXPECT_EQ(other.data(), first);
}

TEST(Deferred, CountsWhatIsLive) {
  const DeferredDevice device;
  {
    const Memory one = device.allocate(100, "test");
    const Memory two = device.allocate(5000, "test");
    EXPECT_EQ(device.liveBytes(), 5100U);
  }
  EXPECT_EQ(device.liveBytes(), 0U);
  EXPECT_THROW((void)device.allocate(size_t{1} << 50, "test"), EngineError);
}

TEST(Deferred, FaultsShowWhenSomebodyWaitsOrAsks) {
  const DeferredDevice device;
  const auto fault = [] { throw EngineError(ErrorCode::kIndexOutOfRange, "an index"); };
  std::string text;
  device.give(kFirst, {"a fault", {}, {}, fault});
  device.give(kFirst, append(text, 'a'));
  device.checkFaults();
  EXPECT_THROW(device.wait(kFirst), EngineError);
  EXPECT_EQ(text, "a");
  device.wait(kFirst);
  device.checkFaults();
}

TEST(Deferred, ARecordingRunsWhenItIsReplayed) {
  const DeferredDevice device;
  std::string text;
  const auto recording = device.record([&](Stream stream) {
    EXPECT_TRUE(device.isCapturing(stream));
    device.give(stream, append(text, 'a'));
    device.give(stream, append(text, 'b'));
  });
  device.wait({});
  EXPECT_EQ(text, "");
  recording->replay(kFirst);
  recording->replay(kFirst);
  device.wait(kFirst);
  EXPECT_EQ(text, "abab");
  EXPECT_EQ(device.recordings(), 1U);
  EXPECT_EQ(device.replays(), 2U);
}

TEST(Deferred, ARecordingThatFailsLeavesNothing) {
  const DeferredDevice device;
  EXPECT_THROW((void)device.record([](Stream) { throw EngineError(ErrorCode::kOutOfMemory, "none"); }), EngineError);
  EXPECT_EQ(device.recordings(), 0U);
  EXPECT_FALSE(device.isCapturing({}));
}

// Each fault ends the process with a line that says which one it is.
class DeferredDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  DeferredDevice device_;
};

TEST_F(DeferredDeathTest, TheHostReads) {
  const Memory memory = device_.allocate(kBytes, "test");
  EXPECT_DEATH(std::string(static_cast<const char*>(memory.data()), kBytes), "the host touches memory of the device");
  device_.wait({});
  EXPECT_DEATH(std::string(static_cast<const char*>(memory.data()), kBytes), "the host touches memory of the device");
}

TEST_F(DeferredDeathTest, WorkReadsWhatItWasNotGiven) {
  const Memory memory = device_.allocate(kBytes, "test");
  const Memory other = device_.allocate(kBytes, "test");
  device_.give({}, {"a thief", {{other.data(), kBytes}}, {}, [&] { std::memset(memory.data(), 0, kBytes); }});
  EXPECT_DEATH(device_.wait({}), "work touches memory that it was not given");
}

TEST_F(DeferredDeathTest, NobodyWaitedForTheOtherStream) {
  const Memory memory = device_.allocate(kBytes, "test", kFirst);
  device_.zero(memory.data(), kBytes, kFirst);
  EXPECT_DEATH(device_.zero(memory.data(), kBytes, kSecond), "the memory of zeros is used in one stream while another");
  EXPECT_DEATH(read(device_, memory, kSecond), "the memory of a copy to the host is used in one stream while another");
  device_.wait(kFirst);
  EXPECT_EQ(read(device_, memory, kSecond), std::vector<unsigned char>(kBytes, 0));
  device_.give(kFirst, {"a reader", {{memory.data(), kBytes}}, {}, [] {}});
  EXPECT_EQ(read(device_, memory, kSecond).size(), kBytes) << "two may read";
  EXPECT_DEATH(device_.zero(memory.data(), kBytes, kSecond), "the memory of zeros is used in one stream while another");
  device_.wait(kFirst);
}

TEST_F(DeferredDeathTest, MemoryIsGivenBackWhileAnotherStreamUsesIt) {
  Memory memory = device_.allocate(kBytes, "test", kFirst);
  device_.wait(kFirst);
  device_.zero(memory.data(), kBytes, kSecond);
  EXPECT_DEATH(memory = Memory(), "memory is given back in one stream while another may still use it");
  device_.wait(kSecond);
}

TEST_F(DeferredDeathTest, MemoryIsUsedThatWasGivenBack) {
  void* gone = nullptr;
  {
    const Memory memory = device_.allocate(kBytes, "test");
    gone = memory.data();
  }
  EXPECT_DEATH(device_.zero(gone, kBytes, {}), "zeros is given memory that was given back");
}

TEST_F(DeferredDeathTest, ARecordingOutlivesItsMemory) {
  Memory memory = device_.allocate(kBytes, "test");
  const auto recording = device_.record([&](Stream stream) { device_.zero(memory.data(), kBytes, stream); });
  recording->replay({});
  memory = Memory();
  EXPECT_DEATH(recording->replay({}), "zeros is given memory that was given back");
}

TEST_F(DeferredDeathTest, MemoryIsTheHostsOrTooSmall) {
  std::vector<char> host(kBytes);
  const Memory memory = device_.allocate(kBytes, "test");
  EXPECT_DEATH(device_.zero(host.data(), kBytes, {}), "zeros is given memory of the host");
  EXPECT_DEATH(device_.zero(memory.data(), kBytes + 3, {}), "zeros is given memory that ends 3 bytes too early");
}

TEST_F(DeferredDeathTest, SomethingIsWrittenBehindTheEnd) {
  Memory memory = device_.allocate(kBytes, "test");
  auto* const data = static_cast<char*>(memory.data());
  device_.give({}, {"a writer", {}, {{data, kBytes}}, [data] { data[kBytes] = 0; }});
  memory = Memory();
  EXPECT_DEATH(device_.wait({}), "something was written behind the end of 256 bytes");
}

TEST_F(DeferredDeathTest, SomebodyWaitsForARecording) {
  Memory memory = device_.allocate(kBytes, "test");
  const auto recorded = [&](auto body) { (void)device_.record(body); };
  EXPECT_DEATH(recorded([&](Stream stream) { device_.wait(stream); }), "somebody waits in a stream that is being");
  EXPECT_DEATH(recorded([&](Stream stream) { (void)device_.allocate(1, "test", stream); }), "memory is asked for in a");
  EXPECT_DEATH(recorded([&](Stream stream) {
                 char c;
                 device_.copyOut(&c, memory.data(), 1, stream);
               }),
               "memory is copied to the host in a stream that is being recorded");
}

}  // namespace
}  // namespace torchtrt::testing
