#include "runtime/base64.h"

#include <gtest/gtest.h>

namespace torchtrt::runtime {
namespace {

// The examples of RFC 4648, section 10.
TEST(Base64, EncodesTheExamplesOfTheStandard) {
  EXPECT_EQ(encodeBase64(""), "");
  EXPECT_EQ(encodeBase64("f"), "Zg==");
  EXPECT_EQ(encodeBase64("fo"), "Zm8=");
  EXPECT_EQ(encodeBase64("foo"), "Zm9v");
  EXPECT_EQ(encodeBase64("foobar"), "Zm9vYmFy");
}

TEST(Base64, GivesEveryByteBack) {
  std::string bytes;
  for (int length = 0; length < 300; ++length) {
    EXPECT_EQ(decodeBase64(encodeBase64(bytes)), bytes) << length;
    bytes += static_cast<char>(length * 7);
  }
}

TEST(Base64, RefusesWhatItDoesNotMake) {
  for (const char* text : {"Zg", "Zg=", "Zh==", "Z===", "====", "Zm9v\n", "Zm9-", "Z=9v", "Zg==Zg=="}) {
    EXPECT_FALSE(decodeBase64(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace torchtrt::runtime
