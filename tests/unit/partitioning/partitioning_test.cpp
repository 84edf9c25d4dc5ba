#include "partitioning/partitioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs.h"

namespace torchtrt::partitioning {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTwoOperators = R"IR(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::add(%x, %y, %one)
  %b : Tensor = aten::relu(%a)
  return (%b))IR";

std::string outlined(const std::string& ir, const PartitioningOptions& options = withMinBlockSize(1),
                     const std::set<std::string>& refused = {"aten::lgamma"}) {
  return outline(partition(graphOf(ir), allBut(refused), options).segments);
}

// The reason of the first node of this kind.
Refusal refusalOf(const Partition& partition, const std::string& kind) {
  for (const Verdict& verdict : partition.verdicts) {
    if (verdict.node->kind().toQualString() == kind && verdict.refusal) {
      return *verdict.refusal;
    }
  }
  return {"none", ""};
}

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

// Document 001's test plan: two convolutions, log_sigmoid, a third convolution.
std::string convolutions() {
  return R"IR(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %one : int = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %ones : int[] = prim::ListConstruct(%one, %one)
  %zeros : int[] = prim::ListConstruct(%zero, %zero)
  %a : Tensor = aten::conv2d(%x, %w, %none, %ones, %zeros, %ones, %one)
  %b : Tensor = aten::conv2d(%a, %w, %none, %ones, %zeros, %ones, %one)
  %c : Tensor = aten::log_sigmoid(%b)
  %d : Tensor = aten::conv2d(%c, %w, %none, %ones, %zeros, %ones, %one)
  return (%d))IR";
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

TEST(Partition, OfAGraphThatConvertsIsOneEngineWhateverTheMinimum) {
  EXPECT_EQ(outlined(kTwoOperators, withMinBlockSize(100)), "engine(add relu)");
  EXPECT_EQ(outlined(kTwoOperators, {}), "engine(add relu)");
}

TEST(Partition, NumbersShapesAndListsNeverCutASegment) {
  EXPECT_EQ(outlined(R"IR(
graph(%x : Tensor, %n : int):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %m : int = aten::add(%n, %one)
  %size : int = aten::size(%a, %zero)
  %dims : int[] = prim::ListConstruct(%size, %one)
  %b : Tensor = aten::reshape(%a, %dims)
  %out : (Tensor, int) = prim::TupleConstruct(%b, %m)
  return (%out))IR"),
            "engine(relu reshape)");
}

TEST(Partition, NumbersThatTracesKeepInTensorsAreNumbers) {
  EXPECT_EQ(outlined(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %a : Tensor = aten::lgamma(%x)
  %n : int = aten::size(%x, %zero)
  %t : Tensor = prim::NumToTensor(%n)
  %h : Tensor = aten::mul(%t, %t)
  %m : int = aten::Int(%h)
  %dims : int[] = prim::ListConstruct(%m)
  %b : Tensor = aten::reshape(%a, %dims)
  %c : Tensor = aten::relu(%b)
  return (%c))IR"),
            "torch(lgamma) engine(reshape relu)");
}

TEST(Partition, CollectionsAtTheBorderAreNoSegments) {
  EXPECT_EQ(outlined(R"IR(
graph(%pair : (Tensor, Tensor)):
  %a : Tensor, %b : Tensor = prim::TupleUnpack(%pair)
  %y : Tensor = aten::relu(%a)
  %z : Tensor = aten::relu(%b)
  %out : (Tensor, Tensor, Tensor) = prim::TupleConstruct(%z, %y, %b)
  return (%out))IR"),
            "engine(relu relu)");
}

TEST(Partition, EngineOutputsStandAsTheResultShowsThem) {
  const Partition result = partition(graphOf(R"IR(
graph(%x : Tensor):
  %y : Tensor = aten::relu(%x)
  %z : Tensor = aten::tanh(%x)
  %out : (Tensor, Tensor, Tensor) = prim::TupleConstruct(%z, %y, %z)
  return (%out))IR"),
                                     allBut({}), {});
  ASSERT_EQ(result.segments[0].outputs.size(), 2U);
  EXPECT_EQ(result.segments[0].outputs[0]->node()->kind(), torch::jit::aten::tanh);
}

TEST(Partition, AValueFromPyTorchThatIsNoTensorKeepsItsUserThere) {
  const Partition result = partition(graphOf(R"IR(
graph(%x : Tensor, %n : int):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::add(%a, %a, %n)
  %c : Tensor = aten::tanh(%b)
  return (%c))IR"),
                                     allBut({}), withMinBlockSize(1));
  EXPECT_EQ(outline(result.segments), "engine(relu) torch(add) engine(tanh)");
  EXPECT_EQ(refusalOf(result, "aten::add").code, "non-tensor-dependency");
}

TEST(Partition, AListThatPyTorchReadsIsMadeThere) {
  EXPECT_EQ(outlined(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %two : int = prim::Constant[value=2]()
  %a : Tensor = aten::relu(%x)
  %list : Tensor[] = aten::split(%a, %two, %zero)
  %b : Tensor[] = aten::split(%a, %two, %zero)
  %c : Tensor = aten::stack(%list, %zero)
  %d : Tensor = aten::cat(%b, %zero)
  %e : Tensor = aten::mul(%c, %d)
  return (%e))IR",
                     withMinBlockSize(1), {"aten::stack"}),
            "engine(relu split cat) torch(split stack) engine(mul)");
}

TEST(Partition, WithoutAMinimumWhatAnEngineSavesDecides) {
  const std::string view = R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %a : Tensor = aten::lgamma(%x)
  %b : Tensor = aten::unsqueeze(%a, %zero)
  %c : Tensor = aten::lgamma(%b)
  %d : Tensor = aten::relu(%c)
  %e : Tensor = aten::tanh(%d)
  %f : Tensor = aten::exp(%e)
  return (%f))IR";
  const Partition result = partition(graphOf(view), allBut({"aten::lgamma"}), {});
  EXPECT_EQ(outline(result.segments), "torch(lgamma unsqueeze lgamma) engine(relu tanh exp)");
  EXPECT_EQ(refusalOf(result, "aten::unsqueeze").code, "small-block");
  EXPECT_EQ(outlined(convolutions(), {}, {"aten::log_sigmoid"}),
            "engine(conv2d conv2d) torch(log_sigmoid) engine(conv2d)");
}

// What runs in PyTorch after all may let others come together: the two halves of the last engine, here.
TEST(Partition, PruningGoesOnUntilNothingChanges) {
  EXPECT_EQ(outlined(R"IR(
graph(%x : Tensor):
  %a : Tensor = aten::lgamma(%x)
  %b : Tensor = aten::relu(%a)
  %c : Tensor = aten::lgamma(%b)
  %d : Tensor = aten::tanh(%c)
  %e : Tensor = aten::exp(%d)
  return (%e))IR",
                     withMinBlockSize(2)),
            "torch(lgamma relu lgamma) engine(tanh exp)");
}

TEST(Partition, ViewsOfWrittenMemoryStayInTorchInOrder) {
  const Partition result = partition(graphOf(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %row : Tensor = aten::select(%a, %zero, %zero)
  %b : Tensor = aten::tanh(%a)
  %w : Tensor = aten::add_(%row, %one, %one)
  %c : Tensor = aten::exp(%a)
  %d : Tensor = aten::mul(%b, %c)
  return (%d))IR"),
                                     allBut({"aten::add_"}), withMinBlockSize(1));
  EXPECT_EQ(outline(result.segments), "engine(relu tanh) torch(select add_) engine(exp mul)");
  EXPECT_EQ(refusalOf(result, "aten::select").code, "mutation");
}

TEST(Partition, BranchesAndLoopsStandAloneAndArePartitionedInside) {
  const std::string ir = R"IR(
graph(%x : Tensor, %c : bool, %n : int):
  %true : bool = prim::Constant[value=1]()
  %a : Tensor = aten::relu(%x)
  %b : Tensor = prim::If(%c)
    block0():
      %d : Tensor = aten::lgamma(%a)
      %e : Tensor = aten::tanh(%d)
      -> (%e)
    block1():
      %f : Tensor = aten::exp(%a)
      -> (%f)
  %g : Tensor = prim::Loop(%n, %true, %b)
    block0(%i : int, %h : Tensor):
      %j : Tensor = aten::sqrt(%h)
      -> (%true, %j)
  %k : Tensor = aten::lgamma(%g)
  return (%k))IR";
  EXPECT_EQ(outlined(ir),
            "engine(relu) alone(If[torch(lgamma) engine(tanh)][engine(exp)]) alone(Loop[engine(sqrt)]) torch(lgamma)");
}

TEST(Partition, WhatFailedStaysInTorchWithItsReason) {
  const auto graph = graphOf(kTwoOperators);
  PartitioningOptions options = withMinBlockSize(1);
  const torch::jit::Node* relu = graph->outputs()[0]->node();
  options.refused[relu] = {"build-failed", "its engine fails to build"};
  const Partition result = partition(graph, allBut({}), options);
  EXPECT_EQ(outline(result.segments), "engine(add) torch(relu)");
  EXPECT_EQ(refusalOf(result, "aten::relu").reason, "its engine fails to build");
}

CompileError errorOf(const std::string& ir) {
  PartitioningOptions options = withMinBlockSize(1);
  options.require_full_compilation = true;
  try {
    partition(graphOf(ir), allBut({"aten::lgamma"}), options);
  } catch (const CompileError& error) {
    return error;
  }
  return CompileError(ErrorCode::kInternal, "no error was thrown");
}

TEST(FullCompilation, NamesEveryNodeThatCannotBeConverted) {
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

TEST(FullCompilation, OfAGraphWithoutWorkIsAnError) {
  for (const char* ir : {"graph(%x : Tensor):\n  return (%x)",
                         "graph(%x : Tensor):\n  %y : (Tensor) = prim::TupleConstruct(%x)\n  return (%y)"}) {
    const CompileError error = errorOf(ir);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidModule);
    EXPECT_THAT(error.what(), HasSubstr("nothing to compile in __torch__.Net.forward"));
  }
}

TEST(FullCompilation, EnginesTakeAndGiveTensorsOnly) {
  EXPECT_THAT(errorOf(R"IR(
graph(%x : Tensor, %n : int):
  %y : Tensor = aten::add(%x, %x, %n)
  return (%y))IR")
                  .what(),
              HasSubstr("aten::add takes a value that PyTorch computes, and engines take tensors"));
}

}  // namespace
}  // namespace torchtrt::partitioning
