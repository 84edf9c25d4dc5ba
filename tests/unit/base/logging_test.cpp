#include "base/logging.h"

#include <gtest/gtest.h>

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

TEST_F(Logging, ColorsOnRequest) {
  setPrefix("");
  setReportableLevel(Level::kGRAPH);
  setColored(true);
  testing::internal::CaptureStderr();
  log(Level::kGRAPH, "g");
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.substr(0, 2), "\033[");
  EXPECT_EQ(line.substr(line.size() - 5), "\033[0m\n");
}

TEST_F(Logging, OrdersLevelsByWeight) {
  EXPECT_LT(Level::kINTERNAL_ERROR, Level::kERROR);
  EXPECT_LT(Level::kWARNING, Level::kINFO);
  EXPECT_LT(Level::kDEBUG, Level::kGRAPH);
}

}  // namespace
}  // namespace torchtrt::logging
