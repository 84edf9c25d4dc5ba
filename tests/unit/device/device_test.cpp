#include "device/device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/align.h"
#include "device/cpu/properties.h"
#include "support/deferred_device.h"
#include "torchtrt/error.h"

namespace torchtrt::device {
namespace {

// Every device promises this.
class Conformance : public ::testing::TestWithParam<const Device* (*)()> {
 protected:
  const Device& device() const {
    return *GetParam()();
  }
};

TEST_P(Conformance, NamesItself) {
  EXPECT_FALSE(device().properties().name.empty());
  EXPECT_FALSE(device().properties().isa.empty());
  EXPECT_GE(device().properties().cores, 1);
}

TEST_P(Conformance, MemoryIsAlignedAndSized) {
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{64}, size_t{4097}, size_t{5} << 20}) {
    const Memory memory = device().allocate(bytes, "test");
    EXPECT_EQ(memory.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % kAlignment, 0U);
    device().zero(memory.data(), bytes, {});
    device().wait({});
  }
}

TEST_P(Conformance, CopiesToAndFro) {
  const Memory one = device().allocate(100, "test");
  if (one.data() == nullptr) {
    GTEST_SKIP() << "a device without memory";
  }
  const Memory other = device().allocate(100, "test");
  std::vector<unsigned char> given(100, 7);
  device().copyIn(one.data(), given.data(), given.size(), {});
  std::fill(given.begin(), given.end(), 0);  // it may be changed at once
  device().zero(other.data(), 100, {});
  device().copyWithin(static_cast<char*>(other.data()) + 10, one.data(), 80, {});
  std::vector<unsigned char> got(100, 1);
  device().copyOut(got.data(), other.data(), got.size(), {});
  std::vector<unsigned char> expected(100, 0);
  std::fill(expected.begin() + 10, expected.begin() + 90, 7);
  EXPECT_EQ(got, expected);
}

TEST_P(Conformance, NoBytesAreNoWork) {
  device().copyIn(nullptr, nullptr, 0, {});
  device().copyOut(nullptr, nullptr, 0, {});
  device().copyWithin(nullptr, nullptr, 0, {});
  device().zero(nullptr, 0, {});
  device().wait({});
  device().checkFaults();
}

TEST_P(Conformance, MeasuresTime) {
  const std::unique_ptr<Timer> timer = device().timer();
  timer->start({});
  timer->stop({});
  EXPECT_GE(timer->microseconds(), 0);
}

TEST_P(Conformance, NothingIsAnEmptyMemory) {
  const Memory memory = device().allocate(0, "test");
  EXPECT_EQ(memory.bytes(), 0U);
  EXPECT_EQ(memory.data(), nullptr);
}

TEST_P(Conformance, MovingLeavesTheSourceEmpty) {
  Memory first = device().allocate(128, "test");
  void* const data = first.data();
  Memory second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.bytes(), 128U);
  Memory third;
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, Conformance,
                         ::testing::Values([]() -> const Device* { return &cpu(); },
                                           []() -> const Device* { return &nullDevice(); },
                                           []() -> const Device* {
                                             static const auto* const device = new torchtrt::testing::DeferredDevice;
                                             return device;
                                           }),
                         [](const auto& info) { return info.param()->properties().name; });

TEST(CpuDevice, SaysHowMuchItWantedWhenThereIsNotEnough) {
  try {
    cpu().allocate(size_t{1} << 60, "a workspace");
    FAIL() << "an exabyte was promised";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    EXPECT_NE(std::string(error.what()).find("a workspace: wanted 1152921504606846976 bytes"), std::string::npos)
        << error.what();
  }
}

TEST(CpuDevice, KnowsItsMemory) {
  EXPECT_GT(cpu().properties().memory_bytes, size_t{1} << 20);
}

TEST(NullDevice, TakesAnySizeAndAllocatesNothing) {
  const Memory memory = nullDevice().allocate(size_t{1} << 60, "test");
  EXPECT_EQ(memory.bytes(), size_t{1} << 60);
  EXPECT_EQ(memory.data(), nullptr);
}

// A cgroup tree in files.
class Cgroup : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("cgroup_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(root_ / "outer" / "inner");
  }
  void TearDown() override {
    std::filesystem::remove_all(root_);
  }
  void write(const std::string& path, const std::string& text) const {
    std::ofstream(root_ / path) << text;
  }

  std::filesystem::path root_;
};

TEST_F(Cgroup, TheSmallestQuotaOnTheWayToTheRootCounts) {
  EXPECT_EQ(readCgroupCores(root_.string(), "/outer/inner"), -1);
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(readCgroupCores(root_.string(), "/outer/inner"), -1);
  write("outer/cpu.max", "150000 100000\n");
  write("outer/inner/cpu.max", "800000 100000\n");
  EXPECT_EQ(readCgroupCores(root_.string(), "/outer/inner"), 2) << "one and a half cores are two threads";
  EXPECT_EQ(readCgroupCores(root_.string(), "/"), -1);
}

TEST_F(Cgroup, TheSmallestMemoryLimitCounts) {
  write("memory.max", "max\n");
  EXPECT_EQ(readCgroupMemory(root_.string(), "/outer/inner"), -1);
  write("outer/memory.max", "1000\n");
  write("outer/inner/memory.max", "2000\n");
  EXPECT_EQ(readCgroupMemory(root_.string(), "/outer/inner"), 1000);
}

}  // namespace
}  // namespace torchtrt::device
