// Registers, memory and spills of kernels on each architecture, as registers.txt has them. No GPU is needed.
// TORCHTRT_UPDATE_GOLDEN=1 writes that file anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cuda/compile/program.h"
#include "cuda/driver/nvrtc.h"
#include "cuda/emulation.h"
#include "cuda/registers.h"
#include "cuda/registers_table.h"
#include "torchtrt/error.h"

namespace torchtrt::cuda::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPath = "tests/unit/cuda/registers.txt";

std::string contentOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Registers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!isEmulated()) {
      GTEST_SKIP() << "takes the compiler away";
    }
  }
};

TEST_F(Registers, AreThoseOfTheTable) {
  std::string reason;
  if (findNvrtc(reason) == nullptr) {
    EXPECT_FALSE(std::filesystem::exists(TORCHTRT_NVRTC_FOLDER "/libnvrtc.so.13")) << reason;
    GTEST_SKIP() << "NVRTC is missing: " << reason;
  }
  const bool writes = std::getenv("TORCHTRT_UPDATE_GOLDEN") != nullptr;
  const std::string expected = contentOf(kPath);
  if (!writes && nvrtcRelease() != releaseOf(expected)) {
    GTEST_SKIP() << "NVRTC is of release " << nvrtcRelease() << " here, and the table of " << releaseOf(expected)
                 << ": TORCHTRT_UPDATE_GOLDEN=1 writes " << kPath << " anew";
  }
  const std::string got = renewed(expected);
  if (writes) {
    std::ofstream(kPath) << got;
  }
  const std::vector<std::string> changes = differences(contentOf(kPath), got);
  for (const std::string& change : changes) {
    ADD_FAILURE() << change;
  }
  EXPECT_THAT(changes, IsEmpty()) << "the numbers of a kernel are those of sm_80, sm_90, sm_100 and sm_120; if the new "
                                     "ones are right: TORCHTRT_UPDATE_GOLDEN=1";
}

TEST_F(Registers, OfEveryKernelStandInTheTable) {
  std::string programs;
  for (const std::string& entry : entriesOf(contentOf(kPath))) {
    const std::vector<std::string> texts = programsOf(entry, "sm_90");
    EXPECT_FALSE(texts.empty()) << "no implementation with device code takes " << entry;
    for (const std::string& text : texts) {
      programs += text;
    }
  }
  const std::filesystem::path sources = "src/cuda";
  int files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(sources)) {
    if (file.path().extension() == ".cuh" && contentOf(file.path()).find("__global__") != std::string::npos) {
      ++files;
      const std::string name = std::filesystem::relative(file.path(), sources).string();
      EXPECT_NE(programs.find(embeddedText(name)), std::string::npos)
          << "no program has " << name << ": add a layer that takes it to " << kPath;
    }
  }
  EXPECT_GT(files, 40);
}

TEST(RegistersTable, TellsEveryDifference) {
  const std::string table =
      "# A comment\nnvrtc 13.0.88\n\n"
      "softmax float32 [2] -> [2] {axis=0}\n  rows  32  40,local=8  48  48\n  parts 20 20 20 20\n"
      "a.engine\n  rows 16 16 16 16\n";
  EXPECT_EQ(releaseOf(table), "13.0.88");
  EXPECT_THAT(entriesOf(table), ElementsAre("softmax float32 [2] -> [2] {axis=0}", "a.engine"));
  EXPECT_THAT(differences(table, table), IsEmpty());
  std::string other = table;
  other.replace(other.find("40,local=8"), 10, "40,local=8,spills=8+4");
  EXPECT_THAT(differences(table, other),
              ElementsAre("softmax float32 [2] -> [2] {axis=0}: rows: expected 32 40,local=8 48 48, got 32 "
                          "40,local=8,spills=8+4 48 48"));
  other = table;
  other.replace(other.find("parts"), 5, "marks");
  EXPECT_THAT(differences(table, other),
              ElementsAre("softmax float32 [2] -> [2] {axis=0}: parts: expected 20 20 20 20, got no such kernel",
                          "softmax float32 [2] -> [2] {axis=0}: marks: expected no such kernel, got 20 20 20 20"));
}

TEST(KernelNeeds, AreReadFromTheLog) {
  const std::string log =
      "ptxas info    : 40 bytes gmem, 16 bytes cmem[4]\n"
      "ptxas info    : Compiling entry function 'sort_tiles' for 'sm_90'\n"
      "ptxas info    : Function properties for sort_tiles\n"
      "    48 bytes stack frame, 24 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 48 bytes cumulative stack size, 16384 bytes smem\n"
      "ptxas info    : Compile time = 12.125 ms\n"
      "ptxas info    : Compiling entry function 'sort_step' for 'sm_90'\n"
      "ptxas info    : Function properties for sort_step\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 18 registers, used 0 barriers\n";
  EXPECT_THAT(needsIn(log),
              ElementsAre(KernelNeeds{"sort_tiles", 255, 48, 24, 20, 16384}, KernelNeeds{"sort_step", 18, 0, 0, 0, 0}));
}

TEST(KernelNeeds, AreNotGuessed) {
  const auto messageOf = [](const std::string& log) -> std::string {
    try {
      needsIn(log);
      return "";
    } catch (const InternalError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(messageOf(""), HasSubstr("names no kernel"));
  EXPECT_THAT(messageOf("ptxas info    : Compiling entry function 'map' for 'sm_90'\n"), HasSubstr("what map needs"));
}

}  // namespace
}  // namespace torchtrt::cuda::testing
