#include "partitioning/partitioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

namespace torchtrt::partitioning {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<torch::jit::Graph> graphOf(const std::string& ir) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(ir, graph.get());
  return graph;
}

// Everything converts but lgamma.
std::optional<Refusal> refusalOf(const torch::jit::Node& node) {
  if (node.kind() == c10::Symbol::fromQualString("aten::lgamma")) {
    return Refusal{"no-converter", "no converter is registered"};
  }
  return std::nullopt;
}

PartitioningOptions options() {
  return {.torch_executed_ops = {}, .what = "__torch__.Net.forward"};
}

std::string printed(const std::string& ir) {
  return print(partition(graphOf(ir), refusalOf, options()));
}

CompileError errorOf(const std::string& ir, const PartitioningOptions& with = options()) {
  try {
    partition(graphOf(ir), refusalOf, with);
  } catch (const CompileError& error) {
    return error;
  }
  return CompileError(ErrorCode::kInternal, "no error was thrown");
}

TEST(Partition, OfAGraphThatConvertsIsOneEngine) {
  EXPECT_EQ(printed(R"IR(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::add(%x, %y, %one)
  %b : Tensor = aten::relu(%a)
  return (%b))IR"),
            R"(Segment Block @0:
  Target: Engine
  Reason: every node converts
  Graph: graph(%x : Tensor,
      %y : Tensor):
  %3 : int = prim::Constant[value=1]()
  %0 : Tensor = aten::add(%x, %y, %3)
  %4 : Tensor = aten::relu(%0)
  return (%4)
)");
}

TEST(Partition, LeavesCollectionsAtTheBorderWithTorch) {
  EXPECT_EQ(printed(R"IR(
graph(%pair : (Tensor, Tensor)):
  %a : Tensor, %b : Tensor = prim::TupleUnpack(%pair)
  %y : Tensor = aten::relu(%a)
  %z : Tensor = aten::relu(%b)
  %out : (Tensor, Tensor, Tensor) = prim::TupleConstruct(%z, %y, %b)
  return (%out))IR"),
            R"(Segment Block @0:
  Target: Torch
  Reason: takes collections among the inputs apart
  Graph: graph(%pair : (Tensor, Tensor)):
  %0 : Tensor, %1 : Tensor = prim::TupleUnpack(%pair)
  return (%0, %1)
Segment Block @1:
  Target: Engine
  Reason: every node converts
  Graph: graph(%1 : Tensor,
      %3 : Tensor):
  %0 : Tensor = aten::relu(%1)
  %2 : Tensor = aten::relu(%3)
  return (%2, %0)
Segment Block @2:
  Target: Torch
  Reason: puts collections among the outputs together
  Graph: graph(%1 : Tensor,
      %2 : Tensor,
      %3 : Tensor):
  %0 : (Tensor, Tensor, Tensor) = prim::TupleConstruct(%1, %2, %3)
  return (%0)
)");
}

// A list that an operator consumes is the engine's, though it looks like one that is returned.
TEST(Partition, ListsInsideOfTheGraphBelongToTheEngine) {
  const auto graph = graphOf(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%x, %x)
  %y : Tensor = aten::cat(%list, %zero)
  return (%y))IR");
  const Partition result = partition(graph, refusalOf, options());
  ASSERT_EQ(result.segments.size(), 1U);
  EXPECT_EQ(result.segments[0].target, Target::kEngine);
  ASSERT_EQ(result.verdicts.size(), 2U);
  EXPECT_EQ(result.verdicts[0].target, Target::kEngine);
}

TEST(Partition, AnOutputUsedTwiceIsOneEngineOutput) {
  const Partition result = partition(graphOf(R"IR(
graph(%x : Tensor):
  %y : Tensor = aten::relu(%x)
  %out : (Tensor, Tensor) = prim::TupleConstruct(%y, %y)
  return (%out))IR"),
                                     refusalOf, options());
  ASSERT_EQ(result.segments.size(), 2U);
  EXPECT_EQ(result.segments[0].outputs.size(), 1U);
}

TEST(Partition, NamesEveryNodeThatCannotBeConverted) {
  const CompileError error = errorOf(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::lgamma(%x)
  %b : Tensor = aten::relu(%a)
  %c : Tensor = aten::lgamma(%b)
  return (%c))IR");
  EXPECT_EQ(error.code(), ErrorCode::kUnsupportedOperator);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("2 nodes of __torch__.Net.forward"), HasSubstr("%1 : Tensor = aten::lgamma(%x)"),
                    HasSubstr("%3 : Tensor = aten::lgamma(%2)"), Not(HasSubstr("relu")),
                    HasSubstr("aten::lgamma(Tensor self) -> Tensor"), HasSubstr("no converter is registered"),
                    HasSubstr("RegisterNodeConversionPatterns")));
}

TEST(Partition, NamesAnOperatorThatTheUserWantsInTorch) {
  PartitioningOptions with = options();
  with.torch_executed_ops = {"aten::relu"};
  const CompileError error = errorOf("graph(%x : Tensor):\n  %y : Tensor = aten::relu(%x)\n  return (%y)", with);
  EXPECT_EQ(error.code(), ErrorCode::kUnsupportedOperator);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("1 node of"), HasSubstr("torch_executed_ops")));
}

TEST(Partition, OfAGraphWithoutWorkIsAnError) {
  for (const char* ir : {"graph(%x : Tensor):\n  return (%x)",
                         "graph(%x : Tensor):\n  %y : (Tensor) = prim::TupleConstruct(%x)\n  return (%y)"}) {
    const CompileError error = errorOf(ir);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidModule);
    EXPECT_THAT(error.what(), HasSubstr("nothing to compile in __torch__.Net.forward"));
  }
}

TEST(Partition, EnginesTakeAndGiveTensorsOnly) {
  const CompileError takes = errorOf(R"IR(
graph(%x : Tensor, %n : int):
  %y : Tensor = aten::add(%x, %x, %n)
  return (%y))IR");
  EXPECT_EQ(takes.code(), ErrorCode::kConversionFailed);
  EXPECT_THAT(takes.what(), AllOf(HasSubstr("takes tensors only"), HasSubstr("%n of type int")));
  const CompileError gives = errorOf(R"IR(
graph(%x : Tensor):
  %y : int = aten::dim(%x)
  return (%y))IR");
  EXPECT_EQ(gives.code(), ErrorCode::kConversionFailed);
  EXPECT_THAT(gives.what(), AllOf(HasSubstr("gives tensors only"), HasSubstr("%1 of type int")));
}

TEST(Judge, GivesAVerdictForEveryNodeInOrder) {
  const auto graph = graphOf(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::lgamma(%x)
  %b : Tensor = aten::relu(%a)
  %out : (Tensor) = prim::TupleConstruct(%b)
  return (%out))IR");
  const std::vector<Verdict> verdicts = judge(*graph, refusalOf);
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_EQ(verdicts[0].refusal->code, "no-converter");
  EXPECT_EQ(verdicts[1].target, Target::kEngine);
  EXPECT_EQ(verdicts[2].refusal->code, kCollectionCode);
}

}  // namespace
}  // namespace torchtrt::partitioning
