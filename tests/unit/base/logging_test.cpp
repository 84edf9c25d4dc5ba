#include "base/logging.h"

#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/status.h"

namespace torchtrt::logging {
namespace {

// The logger is the process's: every test leaves it as it was.
class Logging : public testing::Test {
 protected:
  void TearDown() override {
    setPrefix(prefix_);
    setReportableLevel(level_);
    setColored(colored_);
  }
  std::string prefix_ = getPrefix();
  Level level_ = getReportableLevel();
  bool colored_ = isColored();
};

TEST_F(Logging, WritesWhatIsReportableToStderr) {
  setPrefix("[test] - ");
  setReportableLevel(Level::kINFO);
  testing::internal::CaptureStderr();
  log(Level::kWARNING, "careful");
  log(Level::kINFO, "note");
  log(Level::kDEBUG, "detail");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "WARNING: [test] - careful\nINFO: [test] - note\n");
}

TEST_F(Logging, BuildsNoTextBelowTheLevel) {
  setReportableLevel(Level::kERROR);
  int built = 0;
  const auto text = [&] {
    ++built;
    return "x";
  };
  testing::internal::CaptureStderr();
  TORCHTRT_LOG(kDEBUG, text());
  EXPECT_EQ(built, 0);
  TORCHTRT_LOG(kERROR, text() << 1);
  EXPECT_EQ(built, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ERROR: " + getPrefix() + "x1\n");
}

// The bytes that a message leaves on a terminal, which stderr is meanwhile.
std::string onTerminal(const std::string& message) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_TRUE(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  const int line_side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  const int before = dup(STDERR_FILENO);
  dup2(line_side, STDERR_FILENO);
  log(Level::kERROR, message);
  dup2(before, STDERR_FILENO);
  char bytes[256];
  const ssize_t count = read(terminal, bytes, sizeof(bytes));
  close(before);
  close(line_side);
  close(terminal);
  return {bytes, static_cast<size_t>(count)};
}

TEST_F(Logging, ColorsOnATerminalOnRequest) {
  setPrefix("");
  unsetenv("NO_COLOR");
  setColored(false);
  EXPECT_EQ(onTerminal("e"), "ERROR: e\r\n");
  setColored(true);
  EXPECT_EQ(onTerminal("e"), "\033[1;31mERROR: e\033[0m\r\n");
}

TEST_F(Logging, NoColorInTheEnvironmentWins) {
  setPrefix("");
  setColored(true);
  setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(onTerminal("e"), "ERROR: e\r\n");
  setenv("NO_COLOR", "", 1);
  EXPECT_EQ(onTerminal("e").substr(0, 2), "\033[");
  unsetenv("NO_COLOR");
}

TEST_F(Logging, FilesGetNoColor) {
  setPrefix("");
  setReportableLevel(Level::kGRAPH);
  setColored(true);
  testing::internal::CaptureStderr();
  log(Level::kGRAPH, "g");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "GRAPH: g\n");
}

TEST_F(Logging, KeepsTheStatusBelowTheMessages) {
  setPrefix("");
  testing::internal::CaptureStderr();
  setStatus("busy");
  setStatus("busy");
  log(Level::kERROR, "e");
  setStatus("on");
  setStatus("");
  log(Level::kERROR, "f");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "busy\r\r    \rERROR: e\nbusy\r\r    \ron\r\r  \rERROR: f\n");
}

TEST_F(Logging, OrdersLevelsByWeight) {
  EXPECT_LT(Level::kINTERNAL_ERROR, Level::kERROR);
  EXPECT_LT(Level::kWARNING, Level::kINFO);
  EXPECT_LT(Level::kDEBUG, Level::kGRAPH);
}

}  // namespace
}  // namespace torchtrt::logging
