#include "runtime/recording/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "torchtrt/error.h"

namespace torchtrt::runtime::recording {
namespace {

using ::testing::HasSubstr;

// Variables of the recorder alone, set while it lives.
class Variables {
 public:
  explicit Variables(std::initializer_list<std::pair<const std::string, std::string>> values) : values_(values) {
    for (const auto& [name, value] : values_) {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~Variables() {
    for (const auto& [name, value] : values_) {
      unsetenv(name.c_str());
    }
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::map<std::string, std::string> values_;
};

std::string problemOf(const std::string& name, const std::string& value) {
  const Variables variables({{"TORCHTRT_RECORD", "records"}, {name, value}});
  try {
    settingsFromEnvironment();
    return "";
  } catch (const EngineError& error) {
    return error.what();
  }
}

TEST(RecordSettings, AreNoneWithoutAFolder) {
  const Variables variables({{"TORCHTRT_RECORD_CALLS", "wrong"}});
  EXPECT_FALSE(settingsFromEnvironment());
  EXPECT_EQ(settingsFromEnvironment("records")->folder, "records");
}

TEST(RecordSettings, TakeEveryVariable) {
  const Variables variables({{"TORCHTRT_RECORD", "records"},
                             {"TORCHTRT_RECORD_CALLS", "every:1000"},
                             {"TORCHTRT_RECORD_MOST", "7"},
                             {"TORCHTRT_RECORD_MEGABYTES", "2"},
                             {"TORCHTRT_RECORD_REDACT", "1"}});
  const Settings settings = settingsFromEnvironment().value();
  EXPECT_EQ(settings.folder, "records");
  EXPECT_EQ(settings.calls, Settings::Calls::kEvery);
  EXPECT_EQ(settings.number, 1000U);
  EXPECT_EQ(settings.most_records, 7U);
  EXPECT_EQ(settings.most_bytes, 2U << 20);
  EXPECT_TRUE(settings.is_redacted);
}

TEST(RecordSettings, SayWhatIsExpected) {
  for (const char* calls : {"sometimes", "first", "first:", "first:0", "every:-1", "every:2x", "wrong:3"}) {
    EXPECT_THAT(problemOf("TORCHTRT_RECORD_CALLS", calls), HasSubstr("TORCHTRT_RECORD_CALLS: expected")) << calls;
  }
  for (const char* number : {"0", "many", "1.5", "99999999999999999999"}) {
    EXPECT_THAT(problemOf("TORCHTRT_RECORD_MOST", number), HasSubstr("a whole number, 1 or more, got")) << number;
    EXPECT_THAT(problemOf("TORCHTRT_RECORD_MEGABYTES", number), HasSubstr("a whole number, 1 or more, got")) << number;
  }
  EXPECT_EQ(problemOf("TORCHTRT_RECORD_CALLS", "failing"), "");
}

}  // namespace
}  // namespace torchtrt::runtime::recording
