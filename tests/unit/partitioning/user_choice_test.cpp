#include "partitioning/user_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace torchtrt::partitioning {
namespace {

// Of these kinds, the ones that a name in torch_executed_ops keeps in PyTorch.
std::vector<std::string> kept(const std::string& name, const std::vector<std::string>& kinds) {
  torch::jit::Graph graph;
  std::vector<std::string> result;
  for (const std::string& kind : kinds) {
    const torch::jit::Node& node = *graph.insertNode(graph.create(c10::Symbol::fromQualString(kind)));
    if (const auto refusal = refusalBy({{name}, {}}, node)) {
      EXPECT_EQ(refusal->code, "torch-executed-op");
      EXPECT_EQ(refusal->reason, "torch_executed_ops keeps " + kind + " in PyTorch");
      result.push_back(kind);
    }
  }
  return result;
}

using Kinds = std::vector<std::string>;

TEST(UserChoice, ANameKeepsTheOperatorItself) {
  EXPECT_EQ(kept("aten::relu", {"aten::relu", "aten::relu_", "aten::relu6", "aten::tanh"}), (Kinds{"aten::relu"}));
  EXPECT_EQ(kept("relu", {"aten::relu"}), Kinds());
}

TEST(UserChoice, TheNameOfAnInPlaceFormKeepsTheFunctionalOne) {
  EXPECT_EQ(kept("aten::relu_", {"aten::relu", "aten::relu_", "aten::relu6_"}), (Kinds{"aten::relu", "aten::relu_"}));
}

TEST(UserChoice, NamesThatLoweringReplacesKeepWhatBecomesOfThem) {
  EXPECT_EQ(kept("aten::_convolution", {"aten::conv2d", "aten::conv_transpose1d", "aten::linear"}),
            (Kinds{"aten::conv2d", "aten::conv_transpose1d"}));
  EXPECT_EQ(kept("aten::view", {"aten::reshape", "aten::permute"}), (Kinds{"aten::reshape"}));
  EXPECT_EQ(kept("aten::addmm", {"aten::linear", "aten::matmul"}), (Kinds{"aten::linear"}));
}

TEST(UserChoice, NamesOfWhatLoweringMakesKeepNothingElse) {
  EXPECT_EQ(kept("aten::conv2d", {"aten::conv1d", "aten::conv2d"}), (Kinds{"aten::conv2d"}));
}

}  // namespace
}  // namespace torchtrt::partitioning
