#include "base/color.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include <unistd.h>

#include "torchtrt/logging.h"

namespace torchtrt::logging {
namespace {

class Color : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(ends_.data()), 0);
  }
  void TearDown() override {
    setColorMode(ColorMode::kAuto);
    set_is_colored_output_on(false);
    close(ends_[0]);
    close(ends_[1]);
  }

  std::array<int, 2> ends_{};  // no terminal
};

TEST_F(Color, IsNotForPipesUnlessThatIsAskedFor) {
  EXPECT_FALSE(takesColor(ends_[1]));
  setColorMode(ColorMode::kAlways);
  EXPECT_TRUE(takesColor(ends_[1]));
  setColorMode(ColorMode::kNever);
  EXPECT_FALSE(takesColor(ends_[1]));
}

TEST_F(Color, OfTheLogFollowsTheMode) {
  const auto logged = [] {
    testing::internal::CaptureStderr();
    log(Level::kERROR, "message");
    return testing::internal::GetCapturedStderr();
  };
  set_is_colored_output_on(true);
  EXPECT_THAT(logged(), testing::Not(testing::HasSubstr("\033")));
  setColorMode(ColorMode::kAlways);
  EXPECT_THAT(logged(), testing::StartsWith("\033[1;31mERROR: "));
  set_is_colored_output_on(false);  // the program's own switch comes first
  EXPECT_THAT(logged(), testing::StartsWith("ERROR: "));
}

}  // namespace
}  // namespace torchtrt::logging
