#include "runtime/recording/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "torchtrt/version.h"

namespace torchtrt::runtime::recording {
namespace {

std::string valueOf(const std::vector<Fact>& facts, const std::string& name) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.name == name; });
  return found == facts.end() ? "(none)" : found->value;
}

TEST(Environment, HasListedVariablesAlone) {
  setenv("TORCHTRT_TEST_OF_FACTS", "here", 1);
  setenv("OMP_TEST_OF_FACTS", "here", 1);
  setenv("SECRET_TORCHTRT_TOKEN", "secret", 1);
  setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  const std::vector<Fact> all = facts();
  EXPECT_EQ(valueOf(all, "torchtrt"), kVersion);
  EXPECT_EQ(valueOf(all, "TORCHTRT_TEST_OF_FACTS"), "here");
  EXPECT_EQ(valueOf(all, "OMP_TEST_OF_FACTS"), "here");
  EXPECT_TRUE(std::none_of(all.begin(), all.end(), [](const Fact& fact) { return fact.value == "secret"; }));
  for (const char* name :
       {"TORCHTRT_TEST_OF_FACTS", "OMP_TEST_OF_FACTS", "SECRET_TORCHTRT_TOKEN", "AWS_SECRET_ACCESS_KEY"}) {
    unsetenv(name);
  }
}

TEST(Environment, IsJsonByGroup) {
  EXPECT_EQ(toJson({{"a", "x", "1"}, {"a", "y", "\"2\""}, {"b", "z", ""}}),
            R"({"a": {"x": "1", "y": "\"2\""}, "b": {"z": ""}})");
  EXPECT_EQ(toJson({}), "{}");
}

}  // namespace
}  // namespace torchtrt::runtime::recording
