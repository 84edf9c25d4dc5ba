// The documents' examples, their test plan and their edge cases, point by point.
#include <gtest/gtest.h>

#include "graphs.h"

namespace torchtrt::partitioning {
namespace {

// Document 000, "Dependency Aware Partitioning": the segments' graphs are those printed there, values renamed.
TEST(Document000, TheWorkedExampleGivesThreeSegments) {
  const std::string ir = R"IR(
graph(%x : Tensor, %y : Tensor):
  %3 : int = prim::Constant[value=0]()
  %20 : int = prim::Constant[value=1]()
  %add : Tensor = aten::add(%x, %y, %20)
  %x_lgamma : Tensor = aten::lgamma(%x)
  %mul : Tensor = aten::mul(%x, %y)
  %y_lgamma : Tensor = aten::lgamma(%y)
  %div : Tensor = aten::div(%x, %y)
  %div_lgamma : Tensor = aten::lgamma(%div)
  %27 : Tensor[] = prim::ListConstruct(%x_lgamma, %y_lgamma, %div_lgamma, %add, %mul)
  %12 : Tensor = aten::cat(%27, %3)
  return (%12))IR";
  PartitioningOptions options = withMinBlockSize(1);
  options.user_choice.torch_executed_ops = {"aten::lgamma"};
  const Partition result = partition(graphOf(ir), allBut({}), options);
  EXPECT_EQ(outline(result.segments), "engine(add mul div) torch(lgamma lgamma lgamma) engine(cat)");
  EXPECT_EQ(renamed(print(result)), renamed(R"(Segment Block @0:
  Target: Engine
  Graph: graph(%x : Tensor,
      %y : Tensor):
  %3 : int = prim::Constant[value=1]()
  %0 : Tensor = aten::add(%x, %y, %3)
  %4 : Tensor = aten::mul(%x, %y)
  %5 : Tensor = aten::div(%x, %y)
  return (%0, %4, %5)
Segment Block @1:
  Target: Torch
  Graph: graph(%x : Tensor,
      %y : Tensor,
      %5 : Tensor):
  %0 : Tensor = aten::lgamma(%x)
  %2 : Tensor = aten::lgamma(%y)
  %4 : Tensor = aten::lgamma(%5)
  return (%0, %2, %4)
Segment Block @2:
  Target: Engine
  Graph: graph(%1 : Tensor,
      %2 : Tensor,
      %3 : Tensor,
      %4 : Tensor,
      %5 : Tensor):
  %7 : int = prim::Constant[value=0]()
  %0 : Tensor[] = prim::ListConstruct(%1, %2, %3, %4, %5)
  %6 : Tensor = aten::cat(%0, %7)
  return (%6)
)"));
}

TEST(Document001, SegmentsAndTheirNodes) {
  EXPECT_EQ(outlined(convolutions(), withMinBlockSize(1), {"aten::log_sigmoid"}),
            "engine(conv2d conv2d) torch(log_sigmoid) engine(conv2d)");
}

TEST(Document001, EveryNodeOfTheGraphIsInASegment) {
  const Partition result = partition(graphOf(convolutions()), allBut({"aten::log_sigmoid"}), withMinBlockSize(1));
  std::multiset<const torch::jit::Node*> in_segments;
  for (const Segment& segment : result.segments) {
    in_segments.insert(segment.nodes.begin(), segment.nodes.end());
  }
  for (const torch::jit::Node* node : result.graph->nodes()) {
    const bool is_copied =
        node->kind() == torch::jit::prim::Constant || node->kind() == torch::jit::prim::ListConstruct;
    EXPECT_EQ(in_segments.count(node), is_copied ? 0U : 1U) << describe(*node);
  }
}

// The lists of strides and the like count, as they do in the reference: four nodes and three.
TEST(Document001, AMinimumThatNoBlockReachesLeavesAllToTorch) {
  EXPECT_EQ(outlined(convolutions(), withMinBlockSize(4), {"aten::log_sigmoid"}),
            "engine(conv2d conv2d) torch(log_sigmoid conv2d)");
  EXPECT_EQ(outlined(convolutions(), withMinBlockSize(5), {"aten::log_sigmoid"}),
            "torch(conv2d conv2d log_sigmoid conv2d)");
}

TEST(Document001, AnOperatorCanBeForcedToFallBack) {
  PartitioningOptions options = withMinBlockSize(1);
  options.user_choice.torch_executed_ops = {"aten::conv2d"};
  const Partition result = partition(graphOf(convolutions()), allBut({}), options);
  EXPECT_EQ(outline(result.segments), "torch(conv2d conv2d) engine(log_sigmoid) torch(conv2d)");
  EXPECT_EQ(refusalOf(result, "aten::conv2d").code, "torch-executed-op");
}

// "We should make sure the entire dependency chain is duplicated."
TEST(Document001, TheWholeChainOfANonTensorInputIsCopiedIntoTheSegment) {
  const Partition result = partition(graphOf(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %minus : int = prim::Constant[value=-1]()
  %n : int = aten::size(%x, %zero)
  %two : int = aten::mul(%n, %n)
  %shape : int[] = prim::ListConstruct(%two, %minus)
  %a : Tensor = aten::lgamma(%x)
  %b : Tensor = aten::reshape(%a, %shape)
  %c : Tensor = aten::relu(%b)
  return (%c))IR"),
                                     allBut({"aten::lgamma"}), withMinBlockSize(1));
  EXPECT_EQ(outline(result.segments), "torch(lgamma) engine(reshape relu)");
  EXPECT_EQ(renamed(result.segments[1].graph->toString(false)), renamed(R"(graph(%1 : Tensor,
      %x : Tensor):
  %7 : int = prim::Constant[value=-1]()
  %6 : int = prim::Constant[value=0]()
  %4 : int = aten::size(%x, %6)
  %3 : int = aten::mul(%4, %4)
  %2 : int[] = prim::ListConstruct(%3, %7)
  %0 : Tensor = aten::reshape(%1, %2)
  %8 : Tensor = aten::relu(%0)
  return (%8)
)"));
}

// "There is a supported operator that has two consumers of its output, one supported and the other not."
TEST(Document001, AnOutputWithTwoConsumersGoesToBoth) {
  EXPECT_EQ(outlined(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::lgamma(%a)
  %c : Tensor = aten::tanh(%a)
  %d : Tensor = aten::mul(%b, %c)
  return (%d))IR"),
            "engine(relu tanh) torch(lgamma) engine(mul)");
}

// "There is a supported operator that consumes an output from a supported block and an unsupported block."
TEST(Document001, AConsumerOfBothTargetsStandsBehindBoth) {
  EXPECT_EQ(outlined(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::lgamma(%x)
  %c : Tensor = aten::mul(%a, %b)
  return (%c))IR"),
            "torch(lgamma) engine(relu mul)");
}

// "min_seg_size: 3, no: segments for trt: 0, for pyt: 4": as in that plan the lists of strides are constants here.
TEST(Document001, AMinimumOfThreeLeavesTheFourNodesToTorch) {
  const std::string ir = R"IR(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %one : int = prim::Constant[value=1]()
  %ones : int[] = prim::Constant[value=[1, 1]]()
  %zeros : int[] = prim::Constant[value=[0, 0]]()
  %a : Tensor = aten::conv2d(%x, %w, %none, %ones, %zeros, %ones, %one)
  %b : Tensor = aten::conv2d(%a, %w, %none, %ones, %zeros, %ones, %one)
  %c : Tensor = aten::log_sigmoid(%b)
  %d : Tensor = aten::conv2d(%c, %w, %none, %ones, %zeros, %ones, %one)
  return (%d))IR";
  EXPECT_EQ(outlined(ir, withMinBlockSize(2), {"aten::log_sigmoid"}),
            "engine(conv2d conv2d) torch(log_sigmoid conv2d)");
  EXPECT_EQ(outlined(ir, withMinBlockSize(3), {"aten::log_sigmoid"}), "torch(conv2d conv2d log_sigmoid conv2d)");
}

// "Iterate through mini-graphs and ensure all the nodes exist": each is a copy of a node of the graph.
TEST(Document001, EveryNodeOfASegmentIsOneOfTheGraph) {
  const Partition result = partition(graphOf(convolutions()), allBut({"aten::log_sigmoid"}), withMinBlockSize(1));
  std::set<const torch::jit::Node*> of_graph;
  for (const torch::jit::Node* node : result.graph->nodes()) {
    of_graph.insert(node);
  }
  for (const Segment& segment : result.segments) {
    for (const torch::jit::Node* node : segment.graph->nodes()) {
      if (node->kind() != torch::jit::prim::Constant) {
        EXPECT_EQ(of_graph.count(segment.origins.at(node)), 1U) << describe(*node);
      }
    }
  }
}

// Its figure: "the scalar operations and dictionary accesses are handled by Torch but the Tensor computation" is not.
TEST(Document001, NumbersAndDictionariesStayOutsideOfEngines) {
  const Partition result = partition(graphOf(R"IR(
graph(%given : Dict(str, Tensor), %n : int):
  %key : str = prim::Constant[value="x"]()
  %one : int = prim::Constant[value=1]()
  %x : Tensor = aten::__getitem__(%given, %key)
  %m : int = aten::add(%n, %one)
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::tanh(%a)
  %out : (Tensor, int) = prim::TupleConstruct(%b, %m)
  return (%out))IR"),
                                     allBut({}), withMinBlockSize(1));
  EXPECT_EQ(outline(result.segments), "engine(relu tanh)");
  EXPECT_EQ(result.segments[0].inputs.size(), 1U);
  EXPECT_TRUE(result.segments[0].inputs[0]->type()->isSubtypeOf(*c10::TensorType::get()));
}

// The edge cases under a minimum: what is too small for an engine runs in PyTorch with its neighbours.
TEST(Document001, AProducerWithTwoConsumersUnderAMinimum) {
  const std::string ir = R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::lgamma(%a)
  %c : Tensor = aten::tanh(%a)
  %d : Tensor = aten::mul(%b, %c)
  return (%d))IR";
  EXPECT_EQ(outlined(ir, withMinBlockSize(2)), "engine(relu tanh) torch(lgamma mul)");
  EXPECT_EQ(outlined(ir, withMinBlockSize(3)), "torch(relu lgamma tanh mul)");
}

TEST(Document001, AConsumerOfBothTargetsUnderAMinimum) {
  const std::string ir = R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::lgamma(%x)
  %c : Tensor = aten::mul(%a, %b)
  return (%c))IR";
  EXPECT_EQ(outlined(ir, withMinBlockSize(2)), "torch(lgamma) engine(relu mul)");
  EXPECT_EQ(outlined(ir, withMinBlockSize(3)), "torch(relu lgamma mul)");
}

}  // namespace
}  // namespace torchtrt::partitioning
