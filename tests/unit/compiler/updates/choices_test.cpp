#include "compiler/updates/choices.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

namespace torchtrt::compiler {
namespace {

constexpr const char* kBranch = R"IR(
graph(%x : Tensor, %c : bool):
  %one : int = prim::Constant[value=1]()
  %y : Tensor = aten::relu(%x)
  %z : Tensor = prim::If(%c)
    block0():
      %a : Tensor = aten::add(%y, %y, %one)
      -> (%a)
    block1():
      -> (%y)
  %r : Tensor = aten::tanh(%z)
  return (%r))IR";

std::shared_ptr<torch::jit::Graph> graphOf(const std::string& ir) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, graph.get());
  return graph;
}

const torch::jit::Node* nodeOf(torch::jit::Block& block, const char* kind) {
  for (torch::jit::Node* node : block.nodes()) {
    if (node->kind() == c10::Symbol::fromQualString(kind)) {
      return node;
    }
    for (torch::jit::Block* inner : node->blocks()) {
      if (const torch::jit::Node* found = nodeOf(*inner, kind)) {
        return found;
      }
    }
  }
  return nullptr;
}

TEST(Choices, AreFollowedInAnotherGraph) {
  const auto graph = graphOf(kBranch);
  partitioning::PartitioningOptions options;
  options.refused.emplace(nodeOf(*graph->block(), "aten::add"), Refusal{"slow", "is slower in an engine"});
  options.late.insert(nodeOf(*graph->block(), "aten::tanh"));
  const Choices choices = choicesOf(*graph, options);

  const auto other = graphOf(kBranch);
  partitioning::PartitioningOptions followed;
  follow(choices, *other, followed);
  ASSERT_EQ(followed.refused.size(), 1U);
  EXPECT_EQ(followed.refused.begin()->first, nodeOf(*other->block(), "aten::add"));
  EXPECT_EQ(followed.refused.begin()->second.code, "slow");
  ASSERT_EQ(followed.late.size(), 1U);
  EXPECT_EQ(*followed.late.begin(), nodeOf(*other->block(), "aten::tanh"));
}

TEST(Choices, DoNotCountConstants) {
  const auto graph = graphOf(kBranch);
  partitioning::PartitioningOptions options;
  options.refused.emplace(nodeOf(*graph->block(), "aten::tanh"), Refusal{"slow", ""});
  const Choices choices = choicesOf(*graph, options);
  const auto other = graphOf(kBranch);
  {
    const torch::jit::WithInsertPoint top(*other->nodes().begin());
    other->insertConstant(7);
  }
  partitioning::PartitioningOptions followed;
  follow(choices, *other, followed);
  EXPECT_EQ(followed.refused.begin()->first, nodeOf(*other->block(), "aten::tanh"));
}

TEST(Choices, RefuseAnotherGraph) {
  const Choices choices = choicesOf(*graphOf(kBranch), {});
  partitioning::PartitioningOptions options;
  const auto other = graphOf("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)");
  EXPECT_THROW(follow(choices, *other, options), CompileError);
  Choices damaged = choices;
  damaged.late.push_back(99);
  EXPECT_THROW(follow(damaged, *graphOf(kBranch), options), CompileError);
}

}  // namespace
}  // namespace torchtrt::compiler
