// Tensors that no engine takes or gives, as complex ones are.
#include <gtest/gtest.h>

#include "graphs.h"

namespace torchtrt::partitioning {
namespace {

// Outlines a graph in which the results of tanh, neg and lgamma may not cross the border of an engine.
std::string outlinedWithInner(const std::string& ir) {
  const auto graph = graphOf(ir);
  PartitioningOptions options = withMinBlockSize(1);
  for (const torch::jit::Node* node : graph->nodes()) {
    const std::string kind = node->kind().toUnqualString();
    if (kind == "tanh" || kind == "neg" || kind == "lgamma") {
      options.inner.insert(node->output());
    }
  }
  return outline(partition(graph, allBut({"aten::lgamma", "aten::log_sigmoid"}), options).segments);
}

TEST(Partition, InnerTensorsDoNotCrossTheBorderOfAnEngine) {
  EXPECT_EQ(outlinedWithInner(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %z : Tensor = aten::tanh(%a)
  %w : Tensor = aten::neg(%z)
  %b : Tensor = aten::abs(%w)
  %c : Tensor = aten::log_sigmoid(%b)
  return (%c))IR"),
            "engine(relu tanh neg abs) torch(log_sigmoid)");
  // PyTorch computes what it reads of them, and what engines would then have to take from it.
  EXPECT_EQ(outlinedWithInner(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %z : Tensor = aten::tanh(%a)
  %w : Tensor = aten::lgamma(%z)
  %b : Tensor = aten::abs(%w)
  %c : Tensor = aten::sigmoid(%b)
  return (%c))IR"),
            "engine(relu) torch(tanh lgamma abs) engine(sigmoid)");
  EXPECT_EQ(outlinedWithInner(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %z : Tensor = aten::tanh(%a)
  return (%z))IR"),
            "engine(relu) torch(tanh)");
}

}  // namespace
}  // namespace torchtrt::partitioning
