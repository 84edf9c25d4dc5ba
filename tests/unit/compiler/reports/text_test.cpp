#include "compiler/reports/text.h"

#include <gtest/gtest.h>

namespace torchtrt::compiler {
namespace {

TEST(Beginning, EndsBetweenCharacters) {
  const std::string text = "a\xc3\xa4z";  // three characters in four bytes
  EXPECT_EQ(beginning(text, 9), text);
  EXPECT_EQ(beginning(text, 4), text);
  EXPECT_EQ(beginning(text, 3), "a\xc3\xa4");
  EXPECT_EQ(beginning(text, 2), "a");
  EXPECT_EQ(beginning(text, 0), "");
  EXPECT_EQ(beginning("a\xc3\xa4", 3), "a\xc3\xa4");
}

}  // namespace
}  // namespace torchtrt::compiler
