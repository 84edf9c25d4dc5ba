// One node for equal computations, as text and, for what constants hold, as tensors.
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <vector>

#include "lowering/ir_text.h"
#include "lowering/lowering.h"
#include "lowering/pass.h"

namespace torchtrt::lowering::testing {
namespace {

constexpr const char* kPass = "eliminate_common_subexpressions";

TEST(EliminateCommonSubexpressions, EqualComputationsAreOneInBranchesToo) {
  expectPass(kPass, R"(
graph(%x : Tensor, %condition : bool):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %c : Tensor = prim::If(%condition)
    block0():
      %d : Tensor = aten::relu(%x)
      %e : Tensor = aten::mul(%d, %b)
      -> (%e)
    block1():
      -> (%x)
  %f : Tensor = aten::mul(%a, %c)
  return (%f))",
             R"(
graph(%x : Tensor, %condition : bool):
  %a : Tensor = aten::relu(%x)
  %c : Tensor = prim::If(%condition)
    block0():
      %e : Tensor = aten::mul(%a, %a)
      -> (%e)
    block1():
      -> (%x)
  %f : Tensor = aten::mul(%a, %c)
  return (%f))");
}

TEST(EliminateCommonSubexpressions, ComputationsOfTwoBranchesStay) {
  expectUnchanged(kPass, R"(
graph(%x : Tensor, %condition : bool):
  %c : Tensor = prim::If(%condition)
    block0():
      %d : Tensor = aten::relu(%x)
      -> (%d)
    block1():
      %e : Tensor = aten::relu(%x)
      -> (%e)
  %f : Tensor = aten::relu(%x)
  %g : Tensor = aten::mul(%f, %c)
  return (%g))");
}

TEST(EliminateCommonSubexpressions, WhatIsWrittenReturnedTwiceOrRandomStays) {
  expectUnchanged(kPass, R"(
graph(%x : Tensor, %p : float, %train : bool):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::relu(%x)
  %c : Tensor = aten::neg_(%b)
  %d : Tensor = aten::mul(%a, %c)
  %e : Tensor = aten::sigmoid(%x)
  %f : Tensor = aten::sigmoid(%x)
  %g : Tensor = aten::dropout(%x, %p, %train)
  %h : Tensor = aten::dropout(%x, %p, %train)
  %i : Tensor = aten::mul(%g, %h)
  return (%d, %e, %f, %i))");
}

// type_as may give its operand, which its schema does not tell.
TEST(EliminateCommonSubexpressions, WhatIsWrittenBySecretNamesStays) {
  expectUnchanged(kPass, R"(
graph(%x : Tensor):
  %y : Tensor = aten::sigmoid(%x)
  %name : Tensor = aten::type_as(%y, %y)
  %before : Tensor = aten::relu(%y)
  %written : Tensor = aten::neg_(%name)
  %behind : Tensor = aten::relu(%y)
  %both : Tensor = aten::mul(%before, %behind)
  return (%both))");
}

// The second takes the first one's place among the results, so the third has to stay.
TEST(EliminateCommonSubexpressions, ResultsStayApartBehindAReplacement) {
  expectPass(kPass, R"(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %y : Tensor = aten::neg(%a)
  %b : Tensor = aten::relu(%x)
  %pair : (Tensor, Tensor) = prim::TupleConstruct(%b, %y)
  %c : Tensor = aten::relu(%x)
  return (%pair, %c))",
             R"(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %y : Tensor = aten::neg(%a)
  %pair : (Tensor, Tensor) = prim::TupleConstruct(%a, %y)
  %c : Tensor = aten::relu(%x)
  return (%pair, %c))");
}

TEST(EliminateCommonSubexpressions, TensorsOfTheSameBytesAreOne) {
  expectPass(kPass, R"(
graph(%x : Tensor):
  %a : Float(2, 100) = prim::Constant[value=<Tensor>]()
  %b : Float(2, 100) = prim::Constant[value=<Tensor>]()
  %c : Float(200) = prim::Constant[value=<Tensor>]()
  %d : Tensor = aten::mul(%x, %a)
  %e : Tensor = aten::mul(%x, %b)
  %f : Tensor = aten::mul(%d, %e)
  %g : Tensor = aten::mul(%f, %c)
  return (%g))",
             R"(
graph(%x : Tensor):
  %a : Float(2, 100) = prim::Constant[value=<Tensor>]()
  %c : Float(200) = prim::Constant[value=<Tensor>]()
  %d : Tensor = aten::mul(%x, %a)
  %f : Tensor = aten::mul(%d, %d)
  %g : Tensor = aten::mul(%f, %c)
  return (%g))");
}

// The caller may write to the one that it is given.
TEST(EliminateCommonSubexpressions, ConstantsThatAreResultsStay) {
  expectUnchanged(kPass, R"(
graph(%x : Tensor):
  %a : Float(2) = prim::Constant[value=<Tensor>]()
  %b : Float(2) = prim::Constant[value=<Tensor>]()
  %c : Tensor = aten::mul(%x, %a)
  return (%c, %b))");
}

// True if the pass makes one constant of the two.
bool areOne(const at::Tensor& one, const at::Tensor& other) {
  const auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::Value* sum = graph->addInput();
  for (const at::Tensor& each : {one, other}) {
    sum = graph->insert(torch::jit::aten::add, {sum, graph->insertConstant(each)});
  }
  graph->registerOutput(sum);
  findPass(kPass)->run(graph);
  std::vector<const torch::jit::Node*> tensors;
  for (const torch::jit::Node* node : graph->nodes()) {
    if (node->kind() == torch::jit::prim::Constant && node->output()->type()->isSubtypeOf(*c10::TensorType::get())) {
      tensors.push_back(node);
    }
  }
  return tensors.size() == 1;
}

TEST(EliminateCommonSubexpressions, TensorsAreComparedInFull) {
  const at::Tensor one = at::arange(1000, at::kFloat);
  const at::Tensor other = one.clone();
  EXPECT_TRUE(areOne(one, one));
  EXPECT_TRUE(areOne(one, other));
  other[500] = -1;
  EXPECT_FALSE(areOne(one, other));
  EXPECT_TRUE(areOne(at::zeros({0, 3}), at::zeros({0, 3})));
}

TEST(EliminateCommonSubexpressions, WeightsThatMayChangeAreOneInOneMemoryAlone) {
  const at::Tensor one = at::arange(1000, at::kFloat);
  const auto products = [](const at::Tensor& a, const at::Tensor& b) {
    const auto graph = std::make_shared<torch::jit::Graph>();
    torch::jit::Value* x = graph->addInput();
    graph->registerOutput(graph->insert(torch::jit::aten::mul, {x, graph->insertConstant(a)}));
    graph->registerOutput(graph->insert(torch::jit::aten::mul, {x, graph->insertConstant(b)}));
    LoweringOptions options;
    options.weights_may_change = true;
    const LoweredGraph lowered = lower(graph, options);
    const auto nodes = lowered.graph->nodes();
    return std::count_if(nodes.begin(), nodes.end(),
                         [](const torch::jit::Node* node) { return node->kind() == torch::jit::prim::Constant; });
  };
  EXPECT_EQ(products(one, one.clone()), 2);
  EXPECT_EQ(products(one, one), 1);
}

TEST(EliminateCommonSubexpressions, TensorsOfOtherDtypesSizesStridesAndSignsStay) {
  const at::Tensor zeros = at::zeros({4, 4});
  EXPECT_FALSE(areOne(zeros, at::zeros({4, 4}, at::kInt)));
  EXPECT_FALSE(areOne(zeros, at::zeros({2, 8})));
  EXPECT_FALSE(areOne(zeros, zeros.t()));
  EXPECT_FALSE(areOne(zeros, -zeros));  // -0.0, whose inverse is another
}

TEST(EliminateCommonSubexpressions, ViewsThatOnlyDifferInHowTheyAreReadStay) {
  const at::Tensor numbers = at::complex(at::ones({3}), at::ones({3}));
  EXPECT_FALSE(areOne(numbers, numbers.conj()));
  EXPECT_FALSE(areOne(at::imag(numbers), at::imag(numbers.conj())));  // the second has the negative bit
}

// Every second element of the one memory.
TEST(EliminateCommonSubexpressions, TensorsWithGapsAreReadWhereTheyLie) {
  const at::Tensor numbers = at::arange(8, at::kFloat);
  const at::Tensor even = numbers.slice(0, 0, 8, 2);
  const at::Tensor odd = numbers.slice(0, 1, 8, 2);
  EXPECT_FALSE(areOne(even, odd));
}

}  // namespace
}  // namespace torchtrt::lowering::testing
