#include "base/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "torchtrt/error.h"

namespace torchtrt::dump {
namespace {

class Dump : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    unsetenv("TORCHTRT_DUMP");
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    for (const char* name : {"TORCHTRT_DUMP", "TORCHTRT_DUMP_NETWORK", "TORCHTRT_DUMP_AFTER"}) {
      unsetenv(name);
    }
  }
  void ask(const std::string& passes) {
    setenv("TORCHTRT_DUMP", (folder_.string() + passes).c_str(), 1);
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("torchtrt_dump_test_" + std::to_string(getpid()));
};

TEST_F(Dump, IsOffWithoutTheVariable) {
  EXPECT_FALSE(isOn());
  EXPECT_FALSE(wantsPass("network", "fuse_bias"));
  write("network", "net", "converted", "text");
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(Dump, WritesStagesAloneWithoutAnExpression) {
  ask("");
  EXPECT_TRUE(isOn());
  EXPECT_FALSE(wantsPass("network", "fuse_bias"));
}

TEST_F(Dump, PassesMatchByNameOrByLevelAndName) {
  ask(":^fuse_|^torchscript[.]");
  EXPECT_TRUE(wantsPass("network", "fuse_bias"));
  EXPECT_FALSE(wantsPass("network", "fold_fuse_bias"));
  EXPECT_TRUE(wantsPass("torchscript", "remove_no_ops"));
  EXPECT_FALSE(wantsPass("network", "remove_no_ops"));
}

TEST_F(Dump, FilesSortInTheOrderInWhichTheyWereMade) {
  ask("");
  write("torchscript", "Net.forward", "lowered", "first");
  write("network", "a/b", "converted", "second");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  ASSERT_EQ(names.size(), 2U);
  EXPECT_THAT(names[0], testing::EndsWith(".torchscript.Net.forward.lowered.txt"));
  EXPECT_THAT(names[1], testing::EndsWith(".network.a_b.converted.txt"));
  std::ifstream file(folder_ / names[1]);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), "second");
}

TEST_F(Dump, AnExpressionThatIsNoneIsAnError) {
  ask(":(");
  try {
    wantsPass("network", "fuse_bias");
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
    EXPECT_THAT(error.what(), testing::HasSubstr("'(' in TORCHTRT_DUMP is no regular expression"));
  }
}

TEST_F(Dump, FormerVariablesSayWhatReplacesThem) {
  for (const char* name : {"TORCHTRT_DUMP_NETWORK", "TORCHTRT_DUMP_AFTER"}) {
    setenv(name, "x", 1);
    try {
      isOn();
      FAIL() << name;
    } catch (const CompileError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidOption);
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr(name), testing::HasSubstr("TORCHTRT_DUMP=DIR")));
    }
    unsetenv(name);
  }
}

TEST_F(Dump, AFolderThatCannotBeWrittenIsAnError) {
  setenv("TORCHTRT_DUMP", "/proc/none", 1);
  try {
    write("network", "net", "converted", "text");
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutput);
  }
}

}  // namespace
}  // namespace torchtrt::dump
