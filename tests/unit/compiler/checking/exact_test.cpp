#include "compiler/checking/exact.h"

#include <gtest/gtest.h>

#include <torch/csrc/jit/ir/irparser.h>

namespace torchtrt::compiler {
namespace {

std::shared_ptr<torch::jit::Graph> graphOf(const std::string& ir, bool parses_constants = false) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, graph.get(), parses_constants);
  return graph;
}

TEST(InterpretInDouble, KeepsWhatSixteenBitsLose) {
  const auto graph = graphOf(R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::add(%x, %x, %one)
  %z : Tensor = aten::div(%y, %x)
  return (%y, %z))");
  const at::Tensor x = at::tensor({1.0, 3.0}).to(at::kBFloat16);
  const auto exact = interpretInDouble(*graph, {x});
  ASSERT_TRUE(exact);
  EXPECT_EQ((*exact)[0].toTensor().scalar_type(), at::kDouble);
  EXPECT_TRUE(at::equal((*exact)[0].toTensor(), at::tensor({2.0, 6.0}, at::kDouble)));
  EXPECT_EQ(x.scalar_type(), at::kBFloat16);
}

TEST(InterpretInDouble, WidensCastsToFloatingDtypesAlone) {
  for (const auto& [dtype, expected] :
       {std::pair(at::kHalf, at::kDouble), std::pair(at::kBFloat16, at::kDouble), std::pair(at::kLong, at::kLong)}) {
    const auto graph = graphOf(
        "graph(%x : Tensor):\n  %dtype : int = prim::Constant[value=" + std::to_string(static_cast<int>(dtype)) + R"(]()
  %no : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %c : Tensor = aten::to(%x, %dtype, %no, %no, %none)
  return (%c))");
    const auto exact = interpretInDouble(*graph, {at::tensor({1.0 / 3}, at::kFloat)});
    ASSERT_TRUE(exact);
    EXPECT_EQ((*exact)[0].toTensor().scalar_type(), expected);
  }
}

TEST(InterpretInDouble, WidensConstantsInBlocks) {
  auto graph = graphOf(R"(
graph(%x : Tensor, %b : bool):
  %y : Tensor = prim::If(%b)
    block0():
      %s : Tensor = aten::sigmoid(%x)
      -> (%s)
    block1():
      -> (%x)
  return (%y))");
  torch::jit::Node* sigmoid = *(*graph->nodes().begin())->blocks()[0]->nodes().begin();
  {
    const torch::jit::WithInsertPoint before(sigmoid);
    sigmoid->replaceInput(0, graph->insertConstant(at::tensor({0.5}).to(at::kHalf)));
  }
  const auto exact = interpretInDouble(*graph, {at::zeros({1}, at::kHalf), true});
  ASSERT_TRUE(exact);
  EXPECT_TRUE(at::equal((*exact)[0].toTensor(), at::sigmoid(at::tensor({0.5}, at::kDouble))));
  EXPECT_EQ(sigmoid->input(0)->node()->t(torch::jit::attr::value).scalar_type(), at::kHalf) << "of the graph itself";
}

TEST(InterpretInDouble, LeavesArgumentsAsTheyAre) {
  const auto graph = graphOf(R"(
graph(%x : Tensor):
  %y : Tensor = aten::sigmoid_(%x)
  return (%y))");
  const at::Tensor x = at::zeros({2}, at::kDouble);
  ASSERT_TRUE(interpretInDouble(*graph, {x}));
  EXPECT_TRUE(at::equal(x, at::zeros({2}, at::kDouble)));
}

TEST(InterpretInDouble, IsNothingWhereAnOperatorWantsItsDtype) {
  const auto graph = graphOf(R"(
graph(%x : Tensor, %i : Tensor):
  %y : Tensor = aten::mm(%x, %i)
  return (%y))");
  EXPECT_FALSE(interpretInDouble(*graph, {at::ones({2, 2}), at::ones({2, 2}, at::kLong)}));
}

}  // namespace
}  // namespace torchtrt::compiler
