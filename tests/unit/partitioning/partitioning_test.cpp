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

// The transposed relu is laid out by columns in PyTorch, by rows if an engine gave it. A linear layer's result is by
// rows in both.
TEST(Partition, WhatIsReadByStridesIsLaidOutByPyTorch) {
  const char* const text = R"IR(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %sizes : int[] = prim::Constant[value=[2, 2]]()
  %strides : int[] = prim::Constant[value=[1, 1]]()
  %a : Tensor = aten::tanh(%x)
  %b : Tensor = aten::linear(%a, %w, %none)
  %c : Tensor = aten::relu(%b)
  %d : Tensor = aten::transpose(%c, %zero, %one)
  %e : Tensor = aten::as_strided(%d, %sizes, %strides, %none)
  %f : Tensor = aten::exp(%e)
  return (%f))IR";
  const Partition result = partition(graphOf(text), allBut({"aten::as_strided"}), withMinBlockSize(1));
  EXPECT_EQ(outline(result.segments), "engine(tanh linear) torch(relu transpose as_strided) engine(exp)");
  EXPECT_EQ(refusalOf(result, "aten::relu").code, "memory-layout");
  EXPECT_EQ(outlined(text, withMinBlockSize(1), {"aten::exp"}),
            "engine(tanh linear) torch(relu transpose) engine(as_strided) torch(exp)");
}

// The answers of an engine's result would be others.
TEST(Partition, WhoseStridesAreAskedForIsLaidOutByPyTorch) {
  const auto asked = [](const std::string& question) {
    return outlined(R"IR(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::tanh(%x)
  %b : Tensor = aten::linear(%a, %w, %none)
  %c : Tensor = aten::relu(%b)
  %d : Tensor = aten::contiguous(%c, %zero)
  %e : Tensor = aten::exp(%b)
  %answer : )IR" + question +
                        "\n  return (%answer, %d, %e)",
                    withMinBlockSize(1), {"aten::is_contiguous", "aten::stride", "aten::storage_offset"});
  };
  const std::string decided = "engine(tanh linear exp) torch(relu ";
  EXPECT_EQ(asked("bool = aten::is_contiguous(%c)"), decided + "is_contiguous) engine(contiguous)");
  EXPECT_EQ(asked("int[] = aten::stride(%c)"), decided + "stride) engine(contiguous)");
  EXPECT_EQ(asked("int = aten::storage_offset(%c)"), decided + "storage_offset) engine(contiguous)");
  // Contiguous is contiguous, but it may be its operand, which may be anywhere and have any stride where there is one.
  EXPECT_EQ(asked("bool = aten::is_contiguous(%d)"), "engine(tanh linear relu contiguous exp) torch(is_contiguous)");
  EXPECT_EQ(asked("int[] = aten::stride(%d)"), decided + "contiguous stride)");
  EXPECT_EQ(asked("int[] = aten::stride(%b)"), "engine(tanh linear relu contiguous exp) torch(stride)");
}

// Three light operators are enough without a minimum, or a heavy one; views are neither.
TEST(Partition, AnEngineIsWorthThreeLightOperatorsOrAHeavyOne) {
  const auto behind = [](const std::string& nodes) {
    return outlined("graph(%x : Tensor, %w : Tensor):\n" + nodes + "  %y : Tensor = aten::lgamma(%out)\n  return (%y)",
                    PartitioningOptions());
  };
  const std::string two = "  %a : Tensor = aten::tanh(%x)\n  %b : Tensor = aten::exp(%a)\n";
  EXPECT_EQ(behind(two + "  %out : Tensor = aten::t(%b)\n"), "torch(tanh exp t lgamma)");
  EXPECT_EQ(behind(two + "  %out : Tensor = aten::relu(%b)\n"), "engine(tanh exp relu) torch(lgamma)");
  EXPECT_EQ(behind("  %out : Tensor = aten::matmul(%x, %w)\n"), "engine(matmul) torch(lgamma)");
}

// An engine's result would be viewed where PyTorch copies its own, and show the write.
TEST(Partition, WhatIsViewedOrCopiedBeforeAWriteIsLaidOutByPyTorch) {
  const auto flattened = [](const std::string& then) {
    return outlined(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::tanh(%x)
  %b : Tensor = aten::flatten(%a, %zero, %one)
  %c : Tensor = )IR" + then +
                        "\n  return (%a, %c)",
                    withMinBlockSize(1));
  };
  EXPECT_EQ(flattened("aten::add_(%b, %one, %one)"), "torch(tanh flatten add_)");
  EXPECT_EQ(flattened("aten::add(%b, %one, %one)"), "engine(tanh flatten add)");
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

// A group that moves to PyTorch may let others come together: the two halves of the last engine, here.
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

TEST(Partition, ElementsOfListsAreReadWhereTheListIs) {
  const Partition result = partition(graphOf(R"IR(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %both : Tensor[] = prim::ListConstruct(%x, %y)
  %written : Tensor = aten::add_(%y, %one, %one)
  %stacked : Tensor = aten::stack(%both, %zero)
  %out : Tensor = aten::exp(%stacked)
  return (%out))IR"),
                                     allBut({"aten::add_"}), withMinBlockSize(1));
  EXPECT_EQ(outline(result.segments), "torch(ListConstruct add_ stack) engine(exp)");
}

// Its operand may be anything that has been in a list, and what it gives is put into one, where somebody writes.
TEST(Partition, ProductsOfListElementsAreNoViewsOfThem) {
  const auto with = [](const std::string& work) {
    return partition(graphOf(R"IR(
graph(%w : Tensor, %all : Tensor[], %i : int):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %sizes : int[] = prim::ListConstruct(%one, %one)
  %none : NoneType = prim::Constant()
  %first : Tensor = aten::__getitem__(%all, %zero)
  %a : Tensor = )IR" + work + R"IR(
  %longer : Tensor[] = aten::append(%all, %a)
  %any : Tensor = aten::__getitem__(%all, %i)
  %written : Tensor = aten::add_(%any, %one, %one)
  %b : Tensor = aten::exp(%a)
  return (%b))IR"),
                     allBut({"aten::add_", "aten::append", "aten::__getitem__"}), withMinBlockSize(1));
  };
  EXPECT_EQ(outline(with("aten::linear(%first, %w, %none)").segments),
            "torch(__getitem__) engine(linear) torch(append __getitem__ add_) engine(exp)");
  const Partition view = with("aten::reshape(%first, %sizes)");
  EXPECT_EQ(outline(view.segments), "torch(__getitem__ reshape append __getitem__ add_) engine(exp)");
  EXPECT_EQ(refusalOf(view, "aten::reshape").code, "mutation");
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

TEST(Partition, WhatABranchWithinAnEngineHoldsIsListed) {
  const auto graph = graphOf(R"IR(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %rank : int = aten::dim(%x)
  %flat : bool = aten::eq(%rank, %zero)
  %a : Tensor = aten::relu(%x)
  %b : Tensor = prim::If(%flat)
    block0():
      %d : Tensor = aten::tanh(%a)
      -> (%d)
    block1():
      %f : Tensor = aten::exp(%a)
      -> (%f)
  return (%b))IR");
  const auto all_convert = [](const torch::jit::Node&) -> std::optional<Refusal> { return std::nullopt; };
  const Partition result = partition(graph, all_convert, withMinBlockSize(1));
  EXPECT_EQ(outline(result.segments), "engine(relu If)");
  std::string listed;
  for (const Verdict& verdict : result.verdicts) {
    listed += std::string(verdict.node->kind().toUnqualString()) + (verdict.target == Target::kEngine ? " " : "? ");
  }
  EXPECT_EQ(listed, "dim eq relu tanh exp If ");
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
