// The table of operations as data.
#include "base/operations.h"

#include <gtest/gtest.h>

#include <set>

namespace torchtrt {
namespace {

TEST(Operations, HaveDistinctNamesInEachTable) {
  for (const std::span<const Operation> table : {activations(), unaryOperations(), binaryOperations()}) {
    std::set<std::string_view> names;
    for (const Operation& each : table) {
      EXPECT_TRUE(names.insert(each.name).second) << each.name;
      EXPECT_EQ(findOperation(table, each.name), &each);
    }
    EXPECT_EQ(findOperation(table, "no such operation"), nullptr);
    EXPECT_EQ(findOperation(table, ""), nullptr);
  }
}

TEST(Operations, KnowTheirDTypes) {
  const auto takes = [](std::span<const Operation> table, const char* name) {
    std::string dtypes;
    for (const DType dtype : {DType::kFloat16, DType::kInt32, DType::kBool}) {
      dtypes += findOperation(table, name)->takes(dtype) ? std::string(toString(dtype)) + " " : "";
    }
    return dtypes;
  };
  EXPECT_EQ(takes(activations(), "relu"), "float16 int32 ");
  EXPECT_EQ(takes(activations(), "tanh"), "float16 ");
  EXPECT_EQ(takes(unaryOperations(), "not"), "float16 int32 bool ");
  EXPECT_EQ(takes(unaryOperations(), "bitwise_not"), "int32 bool ");
  EXPECT_EQ(takes(binaryOperations(), "sub"), "float16 int32 ");
  EXPECT_TRUE(findOperation(binaryOperations(), "less_equal")->gives_bool);
  EXPECT_FALSE(findOperation(binaryOperations(), "bitwise_xor")->gives_bool);
}

}  // namespace
}  // namespace torchtrt
