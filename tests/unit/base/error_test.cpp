#include "torchtrt/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "base/check.h"

namespace torchtrt {
namespace {

TEST(Error, SaysCodeMessageLocationAndAdvice) {
  const CompileError error(ErrorCode::kConversionFailed, "aten::add got 3 operands",
                           {"model.py", 38, 12, "forward", "layer1.0"}, "give it two");
  EXPECT_STREQ(error.what(), "[C005] aten::add got 3 operands (at model.py:38:12 (layer1.0))\n  give it two");
  EXPECT_EQ(error.code(), ErrorCode::kConversionFailed);
  EXPECT_EQ(error.message(), "aten::add got 3 operands");
  EXPECT_EQ(error.advice(), "give it two");
  EXPECT_EQ(error.location().line, 38);
}

TEST(Error, LeavesOutWhatIsNotKnown) {
  EXPECT_STREQ(EngineError(ErrorCode::kInputCount, "expected 2 inputs, got 1").what(),
               "[E003] expected 2 inputs, got 1");
}

TEST(Error, CodesAreDistinct) {
  std::set<std::string> codes;
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    EXPECT_TRUE(codes.insert(toString(static_cast<ErrorCode>(i))).second) << toString(static_cast<ErrorCode>(i));
  }
}

// The tests run in the root of the repository.
TEST(Error, EveryCodeHasAPage) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const std::string code = toString(static_cast<ErrorCode>(i));
    std::ifstream page("docs/errors/" + code + ".md");
    std::string title;
    std::getline(page, title);
    EXPECT_EQ(title.substr(0, 8), "# " + code + ": ");
  }
}

TEST(Error, CheckThrowsInternalErrorWithConditionAndValues) {
  const int got = 3;
  EXPECT_NO_THROW(TORCHTRT_CHECK(got == 3, "got " << got));
  try {
    TORCHTRT_CHECK(got == 4, "got " << got);
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("[I001] got == 4 does not hold: got 3"));
  }
}

TEST(Location, PrintsItsParts) {
  EXPECT_EQ(toString(Location{"m.py", 3, 4, "forward", "a.b"}), "m.py:3:4 (a.b)");
  EXPECT_EQ(toString(Location{"m.py", 3, 0, "", ""}), "m.py:3");
  EXPECT_EQ(toString(Location{"", 0, 0, "", "a.b"}), "(a.b)");
  EXPECT_EQ(toString(Location{}), "");
  EXPECT_TRUE(Location{}.empty());
}

}  // namespace
}  // namespace torchtrt
