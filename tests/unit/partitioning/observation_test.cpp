#include "partitioning/observation.h"

#include <gtest/gtest.h>

#include "graphs.h"

namespace torchtrt::partitioning {
namespace {

using Sizes = std::vector<std::vector<int64_t>>;

// A graph as text, observed, and its values by name.
class Observed {
 public:
  explicit Observed(const std::string& ir) : graph_(std::make_shared<torch::jit::Graph>()) {
    torch::jit::parseIR(ir, graph_.get(), values_);
    roles_ = std::make_unique<Roles>(graph_);
    observations_ = std::make_unique<Observations>(graph_, *roles_);
  }

  Observed& run(const std::vector<std::optional<torch::jit::IValue>>& arguments) {
    observations_->run(arguments);
    return *this;
  }
  const ObservedType* find(const std::string& name) const {
    return observations_->find(*values_.at(name));
  }
  bool guesses() const {
    return observations_->guesses();
  }
  // The block that makes the value.
  bool cameThrough(const std::string& name) const {
    return observations_->cameThrough(*values_.at(name)->node()->owningBlock());
  }

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  std::unordered_map<std::string, torch::jit::Value*> values_;
  std::unique_ptr<Roles> roles_;
  std::unique_ptr<Observations> observations_;
};

const std::string kBranches = R"IR(
graph(%x : Tensor, %condition : bool):
  %dims : int[] = prim::Constant[value=[0]]()
  %true : bool = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %y : Tensor = prim::If(%condition)
    block0():
      %a : Tensor = aten::sum(%x, %dims, %true, %none)
      -> (%a)
    block1():
      %b : Tensor = aten::relu(%x)
      -> (%b)
  %z : Tensor = aten::tanh(%y)
  return (%z))IR";

TEST(Observations, AKnownConditionTakesItsBranch) {
  Observed observed(kBranches);
  observed.run({torch::ones({2, 3}), true});
  EXPECT_FALSE(observed.guesses());
  EXPECT_EQ(observed.find("z")->sizes, (Sizes{{1, 3}}));
}

TEST(Observations, ARunComesThroughWhatItIsKnownToTake) {
  Observed observed(kBranches);
  observed.run({torch::ones({2, 3}), std::nullopt});
  EXPECT_TRUE(observed.cameThrough("z"));
  EXPECT_FALSE(observed.cameThrough("a") || observed.cameThrough("b"));
  observed.run({torch::ones({2, 3}), false});
  EXPECT_FALSE(observed.cameThrough("a"));
  EXPECT_TRUE(observed.cameThrough("b"));
}

TEST(Observations, ARunComesThroughLoopsThatMakeATripOutsideOfBranchesThatItDoesNotTake) {
  Observed observed(R"IR(
graph(%x : Tensor, %condition : bool, %trips : int):
  %true : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%trips, %true, %x)
    block0(%i : int, %carried : Tensor):
      %a : Tensor = aten::relu(%carried)
      -> (%true, %a)
  %z : Tensor = prim::If(%condition)
    block0():
      %u : Tensor = prim::Loop(%trips, %true, %y)
        block0(%j : int, %inner : Tensor):
          %b : Tensor = aten::relu(%inner)
          -> (%true, %b)
      -> (%u)
    block1():
      -> (%y)
  return (%z))IR");
  observed.run({torch::ones({2, 3}), false, 0});
  EXPECT_FALSE(observed.cameThrough("a"));
  observed.run({torch::ones({2, 3}), false, 2});
  EXPECT_TRUE(observed.cameThrough("a"));
  EXPECT_FALSE(observed.cameThrough("b"));
  observed.run({torch::ones({2, 3}), true, 2});
  EXPECT_TRUE(observed.cameThrough("b"));
}

// Sizes that depend on it are then not taken for fixed.
TEST(Observations, AnUnknownConditionTakesOneBranchAfterTheOther) {
  Observed observed(kBranches);
  observed.run({torch::ones({2, 3}), std::nullopt});
  EXPECT_TRUE(observed.guesses());
  EXPECT_EQ(observed.find("y")->sizes, (Sizes{{-1, 3}}));
  EXPECT_EQ(observed.find("z")->sizes, (Sizes{{1, 3}}));
  observed.run({torch::ones({2, 3}), std::nullopt});
  EXPECT_EQ(observed.find("z")->sizes, (Sizes{{1, 3}, {2, 3}}));
  EXPECT_EQ(observed.find("y")->largest, (std::vector<int64_t>{2, 3}));
}

TEST(Observations, ABranchThatFailsLeavesTheOthersResult) {
  Observed observed(R"IR(
graph(%x : Tensor, %condition : bool):
  %far : int = prim::Constant[value=7]()
  %y : Tensor = prim::If(%condition)
    block0():
      %a : Tensor = aten::select(%x, %far, %far)
      -> (%a)
    block1():
      %b : Tensor = aten::relu(%x)
      -> (%b)
  %z : Tensor = aten::tanh(%y)
  return (%z))IR");
  observed.run({torch::ones({2, 3}), std::nullopt});
  EXPECT_EQ(observed.find("z")->sizes, (Sizes{{2, 3}}));
}

TEST(Observations, ABranchThatIsNotTakenWritesToCopies) {
  const std::string ir = R"IR(
graph(%x : Tensor, %condition : bool):
  %zero : int = prim::Constant[value=0]()
  %row : Tensor = aten::select(%x, %zero, %zero)
  %y : Tensor = prim::If(%condition)
    block0():
      %a : Tensor = aten::relu_(%row)
      %b : Tensor = aten::tanh(%x)
      -> (%b)
    block1():
      %c : Tensor = aten::tanh_(%x)
      -> (%c)
  return (%y))IR";
  const torch::Tensor x = torch::full({2}, -1.0);
  Observed unknown(ir);
  unknown.run({x, std::nullopt});
  EXPECT_EQ(unknown.find("y")->sizes, (Sizes{{2}}));
  EXPECT_TRUE(torch::equal(x, torch::full({2}, -1.0)));
  Observed known(ir);
  known.run({x, true});
  EXPECT_EQ(known.find("c")->sizes, (Sizes{{2}}));
  EXPECT_TRUE(torch::equal(x, torch::tensor({0.0, -1.0})));
}

}  // namespace
}  // namespace torchtrt::partitioning
