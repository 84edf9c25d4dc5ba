#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "torchtrt/error.h"
#include "torchtrt/types.h"

namespace torchtrt {
namespace {

Attributes oneOfEach() {
  Attributes attributes;
  attributes.set("bool", true);
  attributes.set("int", int64_t{3});
  attributes.set("double", 0.5);
  attributes.set("string", "relu");
  attributes.set("dtype", DType::kInt8);
  attributes.set("ints", std::vector<int64_t>{1, 2});
  attributes.set("doubles", std::vector<double>{1.5});
  attributes.set("dims", Dims{Dim::symbol("n"), 2});
  return attributes;
}

TEST(Attributes, ReadBackWhatWasSet) {
  const Attributes attributes = oneOfEach();
  EXPECT_TRUE(attributes.getBool("bool"));
  EXPECT_EQ(attributes.getInt("int"), 3);
  EXPECT_EQ(attributes.getDouble("double"), 0.5);
  EXPECT_EQ(attributes.getString("string"), "relu");
  EXPECT_EQ(attributes.getDType("dtype"), DType::kInt8);
  EXPECT_EQ(attributes.getInts("ints"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(attributes.getDoubles("doubles"), (std::vector<double>{1.5}));
  EXPECT_EQ(attributes.getDims("dims").toString(), "[n, 2]");
  EXPECT_EQ(attributes.values().begin()->first, "bool") << "in name order";
}

TEST(Attributes, FallBackOnlyWhereMissing) {
  const Attributes attributes = oneOfEach();
  EXPECT_TRUE(attributes.getBool("bool", false));
  EXPECT_FALSE(attributes.getBool("none", false));
  EXPECT_EQ(attributes.getInt("none", 7), 7);
  EXPECT_EQ(attributes.getDouble("none", 7.5), 7.5);
  EXPECT_EQ(attributes.getString("none", "x"), "x");
  EXPECT_EQ(attributes.getInts("none", {4}), (std::vector<int64_t>{4}));
  EXPECT_EQ(attributes.getInts("ints", {4}), (std::vector<int64_t>{1, 2}));
}

TEST(Attributes, RefuseMissingNamesAndOtherTypes) {
  const Attributes attributes = oneOfEach();
  EXPECT_THROW(attributes.getInt("none"), InternalError);
  try {
    attributes.getInt("double", 1);
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("expected attribute \"double\" of type int, got double"));
  }
}

TEST(Attributes, CompareAndErase) {
  Attributes a = oneOfEach();
  const Attributes b = oneOfEach();
  EXPECT_EQ(a, b);
  a.erase("int");
  EXPECT_FALSE(a.has("int"));
  EXPECT_FALSE(a == b);
}

}  // namespace
}  // namespace torchtrt
