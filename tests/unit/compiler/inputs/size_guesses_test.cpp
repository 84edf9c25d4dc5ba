#include "compiler/inputs/size_guesses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchtrt::compiler {
namespace {

using Sizes = std::vector<int64_t>;

// The inputs with ranges are ids, mask and wide; wide has another maximum. s0 and s1 are the dims of ids, s2 and s3
// those of mask, s4 that of wide.
class SizeGuesses : public testing::Test {
 protected:
  SizeGuesses() {
    add("ids", {s(0), s(1)});
    add("mask", {s(2), s(3)});
    add("wide", {s(4), 3});
    leaves_.symbols = {{"s0", 1, 4, 8}, {"s1", 1, 16, 64}, {"s2", 1, 4, 8}, {"s3", 1, 16, 64}, {"s4", 1, 4, 9}};
  }

  static Dim s(int i) {
    return Dim::symbol("s" + std::to_string(i));
  }

  void add(const std::string& name, const Dims& dims) {
    inputs_.push_back(std::make_unique<Input>(Sizes{1}));
    leaves_.leaves.emplace(LeafPath{static_cast<int64_t>(leaves_.leaves.size())},
                           InputLeaf{name, inputs_.back().get(), dims});
  }

  // "s0=s2 s1=s3"
  std::string guessed(const Dim& a, const Dim& b) const {
    std::string text;
    for (const auto& [x, y] : guessesFor(leaves_, a, b)) {
      text += (text.empty() ? "" : " ") + x + "=" + y;
    }
    return text;
  }

  std::string dimsOf(int64_t leaf) const {
    return leaves_.leaves.at({leaf}).dims.toString();
  }

  std::vector<std::unique_ptr<Input>> inputs_;
  InputLeaves leaves_;
};

TEST_F(SizeGuesses, TakeSymbolsOfOneRange) {
  EXPECT_EQ(guessed(s(0), s(2)), "s0=s2");
  EXPECT_EQ(guessed(s(2) + Dim(1), s(0) + Dim(1)), "s2=s0");
  EXPECT_EQ(guessed(s(0) * s(1), s(2) * s(1)), "s0=s2");
  EXPECT_EQ(guessed(s(0) * s(1), s(2) * s(3)), "s0=s2 s1=s3");
}

TEST_F(SizeGuesses, AreNoneWhereNothingMakesTheDimsEqual) {
  EXPECT_EQ(guessed(s(0), s(1)), "") << "their ranges differ";
  EXPECT_EQ(guessed(s(0), s(4)), "") << "their maxima differ";
  EXPECT_EQ(guessed(s(0), s(2) * Dim(2)), "");
  EXPECT_EQ(guessed(s(0), 1), "");
  EXPECT_EQ(guessed(s(0), Dim::symbol("d0")), "") << "d0 is no size of an input";
}

TEST_F(SizeGuesses, PutOneSymbolInThePlaceOfTheOther) {
  takeForOne(leaves_, "s2", "s0", "aten::add");
  EXPECT_EQ(dimsOf(0), "[s0, s1]");
  EXPECT_EQ(dimsOf(1), "[s0, s3]");
  EXPECT_EQ(leaves_.symbols.size(), 4U);
  EXPECT_EQ(leaves_.guessed.at("s0"), "aten::add");
}

TEST_F(SizeGuesses, KeepTheUsersName) {
  inputs_[1]->dim_names = {"s2"};
  takeForOne(leaves_, "s0", "s2", "aten::add");
  EXPECT_EQ(dimsOf(0), "[s2, s1]");
  EXPECT_EQ(sharedDims(leaves_), R"(ids: shared_dims={0: "s2"}; mask: shared_dims={0: "s2"})");
}

TEST_F(SizeGuesses, KeepWhatOneOfThemStoodFor) {
  add("more", {s(5)});
  leaves_.symbols.insert(leaves_.symbols.begin(), {"s5", 1, 4, 8});
  takeForOne(leaves_, "s0", "s2", "aten::add");
  takeForOne(leaves_, "s0", "s5", "aten::mul");
  EXPECT_EQ(dimsOf(1), "[s5, s3]");
  EXPECT_EQ(leaves_.guessed.size(), 1U);
  EXPECT_EQ(leaves_.guessed.at("s5"), "aten::add") << "the first operator";
}

TEST_F(SizeGuesses, AreSaidInTheInputs) {
  EXPECT_EQ(sharedDims(leaves_), "");
  EXPECT_EQ(sharedDims(leaves_, {{"s0", "s2"}}), R"(ids: shared_dims={0: "batch"}; mask: shared_dims={0: "batch"})");
  takeForOne(leaves_, "s0", "s2", "");
  takeForOne(leaves_, "s1", "s3", "");
  EXPECT_EQ(sharedDims(leaves_),
            R"(ids: shared_dims={0: "batch", 1: "size"}; mask: shared_dims={0: "batch", 1: "size"})");
}

TEST_F(SizeGuesses, AreInTheReport) {
  takeForOne(leaves_, "s0", "s2", "aten::add # net.py:3");
  Report report;
  addGuesses(leaves_, report);
  ASSERT_EQ(report.guessed_sizes.size(), 1U);
  EXPECT_THAT(report.guessed_sizes[0].places, testing::ElementsAre("ids, dimension 0", "mask, dimension 0"));
  EXPECT_EQ(report.guessed_sizes[0].reason, "aten::add # net.py:3");
  EXPECT_EQ(report.shared_dims, sharedDims(leaves_));
}

}  // namespace
}  // namespace torchtrt::compiler
