#include "cuda/compile/disk_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace torchtrt::cuda {
namespace {

using std::filesystem::perms;

constexpr perms kOthersWrite = perms::group_write | perms::others_write;

class DiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("torchtrt_cache_" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
  }
  static perms permissionsOf(const std::filesystem::path& path) {
    return std::filesystem::status(path).permissions() & perms::all;
  }
  std::filesystem::path folder_;
};

TEST_F(DiskCacheTest, KeepsCodeByKey) {
  const std::string code("a\0b", 3);
  DiskCache(folder_, "one").write(code);
  EXPECT_EQ(DiskCache(folder_, "one").read(), code);
  EXPECT_EQ(DiskCache(folder_, "two").read(), "");
}

TEST_F(DiskCacheTest, MakesItsFolderForTheUserAlone) {
  const std::filesystem::path made = folder_ / "above" / "cuda";
  DiskCache(made, "one").write("code");
  EXPECT_EQ(permissionsOf(made), perms::owner_all);
  EXPECT_EQ(DiskCache(made, "one").read(), "code");
}

TEST_F(DiskCacheTest, LeavesThePermissionsOfAFolderThatIsThere) {
  const perms open = perms::owner_all | perms::group_read | perms::group_exec | perms::others_read | perms::others_exec;
  std::filesystem::permissions(folder_, open);
  DiskCache(folder_, "one").write("code");
  EXPECT_EQ(permissionsOf(folder_), open);
  EXPECT_EQ(DiskCache(folder_, "one").read(), "code");
}

TEST_F(DiskCacheTest, UsesNoFolderThatOthersMayWriteInto) {
  DiskCache(folder_, "one").write("code");
  std::filesystem::permissions(folder_, kOthersWrite, std::filesystem::perm_options::add);
  EXPECT_EQ(DiskCache(folder_, "one").read(), "");
  DiskCache(folder_, "two").write("code");
  std::filesystem::permissions(folder_, kOthersWrite, std::filesystem::perm_options::remove);
  EXPECT_EQ(DiskCache(folder_, "two").read(), "");
  EXPECT_EQ(DiskCache(folder_, "one").read(), "code");
}

TEST_F(DiskCacheTest, KeepsNothingWithoutAFolder) {
  DiskCache("", "one").write("code");
  EXPECT_EQ(DiskCache("", "one").read(), "");
}

}  // namespace
}  // namespace torchtrt::cuda
