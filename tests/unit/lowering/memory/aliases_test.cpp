#include "lowering/memory/aliases.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/script.h>

#include <unordered_map>

namespace torchtrt::lowering {
namespace {

class Aliases : public ::testing::Test {
 protected:
  void parse(const std::string& text) {
    torch::jit::parseIR(text, graph_.get(), values_);
    before_ = graph_->toString(false);
  }

  bool mayAlias(const std::string& a, const std::string& b) {
    const torch::jit::AliasDb aliases = aliasesOf(graph_);
    EXPECT_EQ(graph_->toString(false), before_) << "the graph is left as it was";
    graph_->lint();
    return aliases.mayAlias(values_.at(a), values_.at(b));
  }

  std::shared_ptr<torch::jit::Graph> graph_ = std::make_shared<torch::jit::Graph>();
  std::unordered_map<std::string, torch::jit::Value*> values_;
  std::string before_;
};

TEST_F(Aliases, ALoopWithoutATripGivesWhatItWasGiven) {
  parse(R"IR(
graph(%x : Tensor, %n : int):
  %yes : bool = prim::Constant[value=1]()
  %fresh : Tensor = aten::sigmoid(%x)
  %y : Tensor, %z : Tensor = prim::Loop(%n, %yes, %x, %fresh)
    block0(%i : int, %a : Tensor, %b : Tensor):
      %c : Tensor = aten::relu(%a)
      %d : Tensor = aten::relu(%b)
      -> (%yes, %c, %d)
  %w : Tensor = aten::relu(%y)
  return (%w, %z))IR");
  EXPECT_TRUE(mayAlias("y", "x"));
  EXPECT_TRUE(mayAlias("z", "fresh"));
  EXPECT_FALSE(mayAlias("z", "x"));
  EXPECT_FALSE(mayAlias("w", "x"));
}

TEST_F(Aliases, NumbersAndWhatPassesThroughNeedNothing) {
  parse(R"IR(
graph(%x : Tensor, %n : int):
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor, %m : int = prim::Loop(%n, %yes, %x, %n)
    block0(%i : int, %a : Tensor, %k : int):
      -> (%yes, %a, %i)
  return (%y, %m))IR");
  EXPECT_TRUE(mayAlias("y", "x"));
}

TEST_F(Aliases, TheSecondTripIsGivenWhatTheFirstMade) {
  parse(R"IR(
graph(%x : Tensor, %other : Tensor, %n : int):
  %yes : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %first : Tensor = aten::relu(%x)
  %y : Tensor, %z : Tensor = prim::Loop(%n, %yes, %first, %first)
    block0(%i : int, %a : Tensor, %b : Tensor):
      %row : Tensor = aten::select(%other, %zero, %zero)
      %fresh : Tensor = aten::relu(%other)
      -> (%yes, %row, %fresh)
  return (%y, %z))IR");
  EXPECT_TRUE(mayAlias("a", "first"));
  EXPECT_TRUE(mayAlias("a", "other"));
  EXPECT_TRUE(mayAlias("y", "other"));
  EXPECT_FALSE(mayAlias("b", "other"));
}

TEST_F(Aliases, ValuesThatTradePlaces) {
  parse(R"IR(
graph(%x : Tensor, %other : Tensor, %n : int):
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor, %z : Tensor = prim::Loop(%n, %yes, %x, %other)
    block0(%i : int, %a : Tensor, %b : Tensor):
      -> (%yes, %b, %a)
  return (%y, %z))IR");
  EXPECT_TRUE(mayAlias("a", "other"));
  EXPECT_TRUE(mayAlias("b", "x"));
  EXPECT_TRUE(mayAlias("z", "x"));
}

TEST_F(Aliases, LoopsInsideOfLoops) {
  parse(R"IR(
graph(%x : Tensor, %n : int):
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%n, %yes, %x)
    block0(%i : int, %a : Tensor):
      %b : Tensor = prim::Loop(%i, %yes, %a)
        block0(%j : int, %c : Tensor):
          %d : Tensor = aten::relu(%c)
          -> (%yes, %d)
      -> (%yes, %b)
  return (%y))IR");
  EXPECT_TRUE(mayAlias("b", "x"));
  EXPECT_TRUE(mayAlias("y", "x"));
}

}  // namespace
}  // namespace torchtrt::lowering
