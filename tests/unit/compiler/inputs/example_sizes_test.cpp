#include "compiler/inputs/example_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace torchtrt::compiler {
namespace {

InputLeaves of(std::vector<Symbol> symbols) {
  InputLeaves leaves;
  leaves.symbols = std::move(symbols);
  return leaves;
}

bool areApart(const std::vector<RunSizes>& runs, const std::string& a, const std::string& b) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunSizes& run) { return run.at(a) != run.at(b); });
}

TEST(ExampleSizes, NearTheOptimumAreUnlikePrimes) {
  const RunSizes near = otherSizes(of({{"a", 1, 4, 64}, {"b", 1, 4, 64}, {"c", 1, 6, 64}})).front();
  EXPECT_EQ(near, (RunSizes{{"a", 5}, {"b", 3}, {"c", 7}}));
}

TEST(ExampleSizes, StayWithinTheRange) {
  for (const Symbol& symbol :
       {Symbol{"a", 1, 1, 2}, Symbol{"a", 4, 8, 8}, Symbol{"a", 0, 1, 1}, Symbol{"a", 100, 100, 200}}) {
    for (const RunSizes& run : otherSizes(of({symbol}))) {
      EXPECT_GE(run.at("a"), symbol.min);
      EXPECT_LE(run.at("a"), symbol.max);
    }
    EXPECT_NE(otherSizes(of({symbol})).front().at("a"), symbol.opt);
  }
}

TEST(ExampleSizes, EveryTwoSymbolsDifferFarFromTheOptimumToo) {
  std::vector<Symbol> symbols;
  for (int i = 0; i < 6; ++i) {
    symbols.push_back({std::string(1, static_cast<char>('a' + i)), 32, 64, 128});
  }
  std::vector<RunSizes> runs = otherSizes(of(symbols));
  const RunSizes near = runs.front();
  std::set<int64_t> unlike;
  for (const auto& [name, size] : near) {
    unlike.insert(size);
  }
  EXPECT_EQ(unlike.size(), symbols.size());
  runs.erase(runs.begin());
  for (const Symbol& a : symbols) {
    for (const Symbol& b : symbols) {
      EXPECT_EQ(areApart(runs, a.name, b.name), a.name != b.name) << a.name << b.name;
    }
    for (const RunSizes& run : runs) {
      EXPECT_EQ(run.at(a.name) % 32, 0);
    }
  }
}

TEST(ExampleSizes, InCommonAreOneAsFarAsTheRangesGo) {
  EXPECT_EQ(commonSizes(of({{"a", 1, 4, 8}, {"b", 1, 3, 8}, {"c", 16, 32, 64}, {"d", 1, 2, 2}})),
            (RunSizes{{"a", 4}, {"b", 4}, {"c", 16}, {"d", 2}}));
}

TEST(ExampleSizes, OfAFailureAreThoseThatAreUnlikeAndOfOneRange) {
  const InputLeaves leaves = of({{"a", 1, 4, 8}, {"b", 1, 4, 8}, {"c", 1, 4, 9}, {"d", 1, 4, 8}});
  const RunSizes run = {{"a", 5}, {"b", 3}, {"c", 7}, {"d", 2}};
  EXPECT_EQ(pairsIn(leaves, run, {5, 16, 3}), (SizePairs{{"a", "b"}}));
  EXPECT_EQ(pairsIn(leaves, run, {5, 3, 2}), (SizePairs{{"a", "b"}, {"a", "d"}}));
  EXPECT_TRUE(pairsIn(leaves, run, {5, 7}).empty()) << "their ranges differ";
  EXPECT_TRUE(pairsIn(leaves, run, {5, 16}).empty());
}

}  // namespace
}  // namespace torchtrt::compiler
