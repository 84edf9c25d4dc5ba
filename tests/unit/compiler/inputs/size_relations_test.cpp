#include "compiler/inputs/size_relations.h"

#include <gtest/gtest.h>

namespace torchtrt::compiler {
namespace {

// s is 4, 5, 8, 2 and t is 7, 3, 3, 14 in the four runs.
const std::vector<RunSizes> kRuns = {
    {{"s", 4}, {"t", 7}}, {{"s", 5}, {"t", 3}}, {{"s", 8}, {"t", 3}}, {{"s", 2}, {"t", 14}}};

std::string relation(const std::vector<int64_t>& sizes, const std::vector<RunSizes>& runs = kRuns) {
  const auto dim = relationOf(sizes, {runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(sizes.size())});
  return dim ? dim->toString() : "none";
}

TEST(SizeRelations, AreTheSizesThemselvesMultiplesSumsAndProducts) {
  EXPECT_EQ(relation({4, 5, 8, 2}), "s");
  EXPECT_EQ(relation({7, 3, 3, 14}), "t");
  EXPECT_EQ(relation({12, 15, 24, 6}), "3*s");
  EXPECT_EQ(relation({5, 6, 9, 3}), "s+1");
  EXPECT_EQ(relation({3, 4, 7, 1}), "s-1");
  EXPECT_EQ(relation({10, 12, 18, 6}), "2*s+2");
  EXPECT_EQ(relation({28, 15, 24, 28}), "s*t");
  EXPECT_EQ(relation({56, 30, 48, 56}), "2*s*t");
}

TEST(SizeRelations, AreNoneWhereARunIsUnlike) {
  EXPECT_EQ(relation({4, 5, 8, 3}), "none");
  EXPECT_EQ(relation({2, 3, 4, 1}), "none") << "rounded up";
  EXPECT_EQ(relation({28, 15, 24, 27}), "none");
  EXPECT_EQ(relation({6, 6, 6, 6}), "none");
  EXPECT_EQ(relation({2, 5, 4, 8}), "none") << "it falls";
  EXPECT_EQ(relation({0, 0, 0, 0}), "none");
}

TEST(SizeRelations, NeedARunMoreThanTheirNumbers) {
  EXPECT_EQ(relation({4, 5}), "s");
  EXPECT_EQ(relation({12, 15}), "3*s");
  EXPECT_EQ(relation({5, 6}), "none") << "any two runs are on a line";
  EXPECT_EQ(relation({5, 6, 9}), "s+1");
  EXPECT_EQ(relation({28, 15}), "none") << "a product by chance";
  EXPECT_EQ(relation({4}), "none");
}

TEST(SizeRelations, AreNoneWhereTwoSymbolsDo) {
  const std::vector<RunSizes> alike = {{{"a", 2}, {"b", 2}}, {{"a", 3}, {"b", 3}}, {{"a", 5}, {"b", 5}}};
  EXPECT_EQ(relation({2, 3, 5}, alike), "none");
}

TEST(SizeRelations, LeaveOutWhatWouldOverflow) {
  EXPECT_EQ(relation({4, 5, 8, int64_t{1} << 40}), "none");
  EXPECT_EQ(relation({-1, 5, 8, 2}), "none");
}

}  // namespace
}  // namespace torchtrt::compiler
