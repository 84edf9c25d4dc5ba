#include "base/safe_file.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace torchtrt {
namespace {

namespace fs = std::filesystem;

// Writes into an empty folder, which goes with the test.
class SafeFile : public testing::TestWithParam<DraftKind> {
 protected:
  SafeFile() {
    std::string pattern = (fs::temp_directory_path() / "safe_file_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SafeFile() override {
    fs::remove_all(folder_);
  }
  SafeFile(const SafeFile&) = delete;
  SafeFile& operator=(const SafeFile&) = delete;

  std::string at(const std::string& name) const {
    return folder_ / name;
  }
  void make(const std::string& name, const std::string& content, mode_t mode = 0644) const {
    std::ofstream(at(name)) << content;
    chmod(at(name).c_str(), mode);
  }
  std::string content(const std::string& name) const {
    std::ifstream in(at(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  mode_t mode(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(stat(at(name).c_str(), &found), 0);
    return found.st_mode & 07777;
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.insert(entry.path().filename());
    }
    return found;
  }
  static std::error_code write(const std::string& path, const std::string& text) {
    return replaceFile(
        path, [&](const FileSink& sink) { sink(text.data(), text.size()); }, GetParam());
  }

  fs::path folder_;
};

TEST_P(SafeFile, WritesNewFilesWithTheModeOfTheUmask) {
  const mode_t before = umask(027);
  EXPECT_FALSE(write(at("new"), "content"));
  umask(before);
  EXPECT_EQ(content("new"), "content");
  EXPECT_EQ(mode("new"), 0640);
  EXPECT_EQ(names(), std::set<std::string>{"new"});
}

TEST_P(SafeFile, KeepsThePermissionsOfWhatWasThere) {
  make("secret", "old", 0600);
  make("program", "old", 0755);
  EXPECT_FALSE(write(at("secret"), "new"));
  EXPECT_FALSE(write(at("program"), "new"));
  EXPECT_EQ(content("secret"), "new");
  EXPECT_EQ(mode("secret"), 0600);
  EXPECT_EQ(mode("program"), 0755);
}

TEST_P(SafeFile, ReplacesTheTargetOfALink) {
  fs::create_directory(folder_ / "store");
  make("store/model", "old", 0640);
  fs::create_symlink("store/model", folder_ / "first");
  fs::create_symlink(folder_ / "first", folder_ / "second");
  EXPECT_FALSE(write(at("second"), "new"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "second") && fs::is_symlink(folder_ / "first"));
  EXPECT_EQ(content("store/model"), "new");
  EXPECT_EQ(mode("store/model"), 0640);
}

TEST_P(SafeFile, MakesTheMissingTargetOfALink) {
  fs::create_symlink("to_come", folder_ / "link");
  EXPECT_FALSE(write(at("link"), "new"));
  EXPECT_EQ(names(), (std::set<std::string>{"link", "to_come"}));
  EXPECT_EQ(content("to_come"), "new");
}

TEST_P(SafeFile, RefusesLinksWithoutAnEnd) {
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_EQ(write(at("a"), "new"), std::errc::too_many_symbolic_link_levels);
}

TEST_P(SafeFile, RefusesALinkThatAnotherUserPutIntoASharedFolder) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a link to another user";
  }
  make("victim", "old");
  fs::create_directory(folder_ / "shared");
  chmod(at("shared").c_str(), 01777);
  fs::create_symlink("../victim", folder_ / "shared" / "trap");
  ASSERT_EQ(lchown(at("shared/trap").c_str(), 12345, 12345), 0);
  EXPECT_EQ(write(at("shared/trap"), "new"), std::errc::permission_denied);
  EXPECT_EQ(checkReplaceable(at("shared/trap")), std::errc::permission_denied);
  EXPECT_EQ(content("victim"), "old");
}

TEST_P(SafeFile, RefusesWhatIsNoFile) {
  fs::create_directory(folder_ / "folder");
  EXPECT_EQ(write(at("folder"), "new"), std::errc::is_a_directory);
  EXPECT_EQ(write("/dev/null", "new"), std::errc::invalid_argument);
  EXPECT_EQ(write(at("none/file"), "new"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(checkReplaceable(at("folder")), std::errc::is_a_directory);
  EXPECT_EQ(checkReplaceable("/dev/null"), std::errc::invalid_argument);
  EXPECT_EQ(checkReplaceable(at("none/file")), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(checkReplaceable(at("file")));
  EXPECT_EQ(names(), std::set<std::string>{"folder"});
}

TEST_P(SafeFile, KeepsTheOldContentWhereTheWriterThrows) {
  make("file", "old");
  const auto write_half = [](const FileSink& sink) {
    sink("half", 4);
    throw std::runtime_error("no more");
  };
  EXPECT_THROW(replaceFile(at("file"), write_half, GetParam()), std::runtime_error);
  EXPECT_EQ(content("file"), "old");
  EXPECT_EQ(names(), std::set<std::string>{"file"});
}

// libtorch's writer of archives writes the memory of empty records.
TEST_P(SafeFile, WritesNothingFromNoMemory) {
  const auto problem = replaceFile(
      at("new"),
      [](const FileSink& sink) {
        EXPECT_EQ(sink("some", 4), 4U);
        EXPECT_EQ(sink(nullptr, 0), 0U);
      },
      GetParam());
  EXPECT_FALSE(problem) << problem.message();
  EXPECT_EQ(content("new"), "some");
}

TEST_P(SafeFile, ReportsAFullDisk) {
  make("file", "old");
  const auto write_all = [](const FileSink& sink) {
    const std::string piece(1 << 16, 'x');
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(sink(piece.data(), piece.size()), piece.size());
    }
  };
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit { 100000, 100000 };
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(replaceFile(at("file"), write_all, GetParam()) == std::errc::file_too_large ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content("file"), "old");
  EXPECT_EQ(names(), std::set<std::string>{"file"});
}

// Ends in the middle of writing, by SIGKILL.
void writeAndDie(const std::string& path, DraftKind kind) {
  const pid_t child = fork();
  if (child == 0) {
    const auto write_half = [](const FileSink& sink) {
      sink("half", 4);
      kill(getpid(), SIGKILL);
    };
    [[maybe_unused]] const auto never = replaceFile(path, write_half, kind);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_P(SafeFile, KilledProcessesLeaveNothingForLong) {
  make("file", "old");
  writeAndDie(at("file"), GetParam());
  EXPECT_EQ(content("file"), "old");
  EXPECT_EQ(names().size(), GetParam() == DraftKind::kUnnamed ? 1 : 2);
  EXPECT_FALSE(write(at("another"), "new"));  // the next call clears the folder
  EXPECT_EQ(names(), (std::set<std::string>{"another", "file"}));
}

TEST_P(SafeFile, DraftsOfLivingProcessesStay) {
  make("file", "old");
  const auto write_slowly = [&](const FileSink& sink) {
    sink("half", 4);
    EXPECT_FALSE(write(at("another"), "new"));
    sink(" and half", 9);
  };
  EXPECT_FALSE(replaceFile(at("file"), write_slowly, GetParam()));
  EXPECT_EQ(content("file"), "half and half");
  EXPECT_EQ(names(), (std::set<std::string>{"another", "file"}));
}

INSTANTIATE_TEST_SUITE_P(Drafts, SafeFile, testing::Values(DraftKind::kUnnamed, DraftKind::kNamed),
                         [](const auto& info) { return info.param == DraftKind::kUnnamed ? "unnamed" : "named"; });

}  // namespace
}  // namespace torchtrt
