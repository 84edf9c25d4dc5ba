#include "partitioning/user_choice.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace torchtrt::partitioning {
namespace {

// Returns those of these kinds that a name in torch_executed_ops keeps in PyTorch.
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

using Names = std::vector<std::string>;

TEST(UserChoice, NamesOfNoOperatorAreTold) {
  EXPECT_EQ(namesOfNothing({{"aten::relu", "aten::reluu", "relu", "::relu", "aten::", "no::such"}, {}}, nullptr),
            (Names{"::relu", "aten::", "aten::reluu", "no::such", "relu"}));
  EXPECT_EQ(
      namesOfNothing({{"aten::relu_", "aten::cudnn_batch_norm", "aten::_reshape_alias", "prim::If"}, {}}, nullptr),
      Names());
}

TEST(UserChoice, NamesOfNoModuleAreTold) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module inner(c10::QualifiedName("__torch__.nets.___torch_mangle_4.Block"), unit);
  torch::jit::Module outer(c10::QualifiedName("__torch__.nets.Net"), unit);
  outer.register_module("layer", inner);
  const Names wanted{"layer", "nets.Block", "__torch__.nets.Block", "nets.Net", "layre", "Block", "layer.0"};
  EXPECT_EQ(namesOfNothing({{}, wanted}, &outer), (Names{"layre", "Block", "layer.0"}));
  EXPECT_EQ(namesOfNothing({{}, wanted}, nullptr), Names()) << "a graph has no modules to compare with";
}

}  // namespace
}  // namespace torchtrt::partitioning
