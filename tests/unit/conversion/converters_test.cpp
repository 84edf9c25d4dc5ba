// Compares the layers of nodes: kinds, dtypes and shapes. Numbers are compared with eager PyTorch by
// tests/python/operator_table.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conversion/convert_text.h"

namespace torchtrt::conversion::testing {
namespace {

using ::testing::ElementsAre;
using Lines = std::vector<std::string>;

TEST(Convert, ConvolutionKeepsASymbolicBatch) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %stride : int[] = prim::Constant[value=[2, 2]]()
  %padding : int[] = prim::Constant[value=[1, 1]]()
  %dilation : int[] = prim::Constant[value=[1, 1]]()
  %groups : int = prim::Constant[value=1]()
  %y : Tensor = aten::conv2d(%x, %w, %none, %stride, %padding, %dilation, %groups)
  %z : Tensor = aten::relu(%y)
  return (%z))",
                       {{DType::kFloat32, {s0(), 3, 8, 8}}, {DType::kFloat32, {4, 3, 3, 3}}}),
              ElementsAre("convolution float32[s0, 4, 4, 4]", "activation:relu float32[s0, 4, 4, 4]"));
}

TEST(Convert, ConvolutionTakesAnInputWithoutBatch) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor, %w : Tensor):
  %none : NoneType = prim::Constant()
  %one : int[] = prim::Constant[value=[1]]()
  %named : str = prim::Constant[value="same"]()
  %groups : int = prim::Constant[value=1]()
  %y : Tensor = aten::conv1d(%x, %w, %none, %one, %named, %one, %groups)
  return (%y))",
                       {{DType::kFloat32, {3, 9}}, {DType::kFloat32, {4, 3, 2}}}),
              ElementsAre("shuffle float32[1, 3, 9]", "convolution float32[1, 4, 9]", "shuffle float32[4, 9]"));
}

// Kernels that only write the greatest are faster.
TEST(Convert, IndicesOfMaximaAreLeftOutWhereNobodyReadsThem) {
  const auto text = [](const std::string& result) {
    return R"(
graph(%x : Tensor):
  %size : int[] = prim::Constant[value=[2, 2]]()
  %y : Tensor, %i : Tensor = aten::adaptive_max_pool2d(%x, %size)
  return )" +
           result;
  };
  const std::vector<Spec> image = {{DType::kFloat32, {1, 3, 8, 8}}};
  const auto without = networkOf(text("(%y)"), image);
  EXPECT_FALSE(without->getLayer(0)->attributes().getBool("return_indices"));
  const auto with = networkOf(text("(%y, %i)"), image);
  EXPECT_TRUE(with->getLayer(0)->attributes().getBool("return_indices"));
}

TEST(Convert, LinearIsOneLayerWithItsBias) {
  const auto network = networkOf(R"(
graph(%x : Tensor, %w : Tensor, %b : Tensor):
  %y : Tensor = aten::linear(%x, %w, %b)
  return (%y))",
                                 {{DType::kFloat32, {s0(), 5, 6}}, {DType::kFloat32, {4, 6}}, {DType::kFloat32, {4}}});
  ASSERT_EQ(network->getNbLayers(), 1);
  EXPECT_EQ(network->getLayer(0)->getType(), network::LayerType::kMATRIX_MULTIPLY);
  EXPECT_EQ(network->getLayer(0)->getInput(2), network->getInput(2));
  EXPECT_EQ(network->getOutput(0)->getDimensions(), (Dims{s0(), 5, 4}));
}

TEST(Convert, APythonNumberPromotesByItsCategoryOnly) {
  const std::string text = R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %half : float = prim::Constant[value=0.5]()
  %y : Tensor = aten::add(%x, %half, %one)
  return (%y))";
  EXPECT_THAT(layersOf(text, {{DType::kInt32, {3}}}), ElementsAre("cast float32[3]", "elementwise:sum float32[3]"));
  EXPECT_THAT(layersOf(text, {{DType::kFloat16, {3}}}), ElementsAre("elementwise:sum float16[3]"));
}

TEST(Convert, TheFactorOfAnAdditionIsHonoured) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor, %y : Tensor):
  %two : int = prim::Constant[value=2]()
  %z : Tensor = aten::sub(%x, %y, %two)
  return (%z))",
                       {{DType::kFloat32, {3}}, {DType::kFloat32, {s0(), 1}}}),
              ElementsAre("elementwise:prod float32[s0, 1]", "elementwise:sub float32[s0, 3]"));
}

TEST(Convert, IntegerDivisionIsTrueDivisionUnlessRounded) {
  const auto text = [](const std::string& mode) {
    return "graph(%x : Tensor, %y : Tensor):\n  %mode : " + mode +
           "\n  %z : Tensor = aten::div(%x, %y, %mode)\n  return (%z)";
  };
  const std::vector<Spec> inputs = {{DType::kInt64, {3}}, {DType::kInt64, {3}}};
  EXPECT_THAT(layersOf(text("NoneType = prim::Constant()"), inputs),
              ElementsAre("cast float32[3]", "cast float32[3]", "elementwise:div float32[3]"));
  EXPECT_THAT(layersOf(text("str = prim::Constant[value=\"floor\"]()"), inputs),
              ElementsAre("elementwise:floor_div int64[3]"));
}

TEST(Convert, ConcatenationPromotes) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%x, %y)
  %z : Tensor = aten::cat(%list, %one)
  return (%z))",
                       {{DType::kFloat16, {s0(), 6}}, {DType::kFloat32, {s0(), 2}}}),
              ElementsAre("cast float32[s0, 6]", "concatenation float32[s0, 8]"));
}

TEST(Convert, SumsOfIntegersAreInt64) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %axes : int[] = prim::Constant[value=[-1]]()
  %keep : bool = prim::Constant[value=1]()
  %y : Tensor = aten::sum(%x, %axes, %keep, %none)
  return (%y))",
                       {{DType::kInt8, {s0(), 6}}}),
              ElementsAre("cast int64[s0, 6]", "reduce:sum int64[s0, 1]"));
}

TEST(Convert, ChunksOfAListAreUnpacked) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor):
  %two : int = prim::Constant[value=2]()
  %one : int = prim::Constant[value=1]()
  %list : Tensor[] = aten::chunk(%x, %two, %one)
  %a : Tensor, %b : Tensor = prim::ListUnpack(%list)
  %y : Tensor = aten::mul(%a, %b)
  return (%y))",
                       {{DType::kFloat32, {s0(), 6}}}),
              ElementsAre("slice float32[s0, 3]", "slice float32[s0, 3]", "elementwise:prod float32[s0, 3]"));
}

TEST(Convert, ABranchOnTheRankIsResolved) {
  const std::string text = R"(
graph(%x : Tensor):
  %four : int = prim::Constant[value=4]()
  %rank : int = aten::dim(%x)
  %is_image : bool = aten::eq(%rank, %four)
  %y : Tensor = prim::If(%is_image)
    block0():
      %a : Tensor = aten::relu(%x)
      -> (%a)
    block1():
      %b : Tensor = aten::sigmoid(%x)
      -> (%b)
  return (%y))";
  EXPECT_THAT(layersOf(text, {{DType::kFloat32, {s0(), 3, 2, 2}}}),
              ElementsAre("activation:relu float32[s0, 3, 2, 2]"));
  EXPECT_THAT(layersOf(text, {{DType::kFloat32, {s0(), 3}}}), ElementsAre("activation:sigmoid float32[s0, 3]"));
}

TEST(Convert, AnInputThatIsAnOutputGetsALayerOfItsOwn) {
  EXPECT_THAT(layersOf("graph(%x : Tensor):\n  return (%x)", {{DType::kFloat32, {2}}}),
              ElementsAre("identity float32[2]"));
}

TEST(Convert, OutputsInTuplesAndListsAreTakenApart) {
  const auto network = networkOf(R"(
graph(%x : Tensor):
  %a : Tensor = aten::relu(%x)
  %b : Tensor = aten::neg(%x)
  %list : Tensor[] = prim::ListConstruct(%b, %a)
  %out : (Tensor, Tensor[]) = prim::TupleConstruct(%a, %list)
  return (%out))",
                                 {{DType::kFloat32, {2}}});
  ASSERT_EQ(network->getNbOutputs(), 3);
  EXPECT_EQ(network->getOutput(0), network->getOutput(2));
  EXPECT_EQ(network->getOutputName(2), "output_2");
}

// Size arithmetic stays symbolic.
TEST(Sizes, ArithmeticOnADynamicDimension) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %b : int = aten::size(%x, %zero)
  %c : int = aten::size(%x, %one)
  %half : int = aten::floordiv(%c, %two)
  %twice : int = aten::mul(%b, %two)
  %size : int[] = prim::ListConstruct(%twice, %half)
  %y : Tensor = aten::reshape(%x, %size)
  return (%y))",
                       {{DType::kFloat32, {s0(), 6}}}),
              ElementsAre("shuffle float32[2*s0, 3]"));
}

TEST(Sizes, TracedArithmeticGoesThroughTensors) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %minus : int = prim::Constant[value=-1]()
  %two : Long(requires_grad=0, device=cpu) = prim::Constant[value={2}]()
  %b : int = aten::size(%x, %zero)
  %tensor : Tensor = prim::NumToTensor(%b)
  %product : Tensor = aten::mul(%tensor, %two)
  %number : int = aten::Int(%product)
  %size : int[] = prim::ListConstruct(%number, %minus)
  %y : Tensor = aten::reshape(%x, %size)
  return (%y))",
                       {{DType::kFloat32, {s0(), 6}}}),
              ElementsAre("shuffle float32[2*s0, 3]"));
}

// `rows *= 2` comes down to this.
TEST(Sizes, TracedArithmeticMayKeepOrTakeAWholeDtype) {
  EXPECT_THAT(layersOf(R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %long : int = prim::Constant[value=4]()
  %false : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %minus : int = prim::Constant[value=-1]()
  %two : Long(requires_grad=0, device=cpu) = prim::Constant[value={2}]()
  %b : int = aten::size(%x, %zero)
  %tensor : Tensor = prim::NumToTensor(%b)
  %product : Tensor = aten::mul(%tensor, %two)
  %same : Tensor = aten::type_as(%product, %tensor)
  %whole : Tensor = aten::to(%same, %long, %false, %false, %none)
  %number : int = aten::Int(%whole)
  %size : int[] = prim::ListConstruct(%number, %minus)
  %y : Tensor = aten::reshape(%x, %size)
  return (%y))",
                       {{DType::kFloat32, {s0(), 6}}}),
              ElementsAre("shuffle float32[2*s0, 3]"));
}

std::string comparing(const std::string& number) {
  return R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %number : int = prim::Constant[value=)" +
         number + R"(]()
  %b : int = aten::size(%x, %zero)
  %bigger : bool = aten::gt(%b, %number)
  %y : Tensor = prim::If(%bigger)
    block0():
      %a : Tensor = aten::relu(%x)
      -> (%a)
    block1():
      -> (%x)
  return (%y))";
}

TEST(Sizes, AComparisonThatTheRangeDecides) {
  EXPECT_THAT(layersOf(comparing("1"), {{DType::kFloat32, {s0(), 6}}}), ElementsAre("activation:relu float32[s0, 6]"));
  EXPECT_THAT(layersOf(comparing("8"), {{DType::kFloat32, {s0(), 6}}}), ElementsAre("identity float32[s0, 6]"));
  EXPECT_THAT(errorOf(comparing("4"), {{DType::kFloat32, {s0(), 6}}}), ::testing::HasSubstr("[dynamic-dimension]"));
}

TEST(Sizes, ASizeAsAnOperandBecomesATensor) {
  EXPECT_THAT(
      layersOf(R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %b : int = aten::size(%x, %zero)
  %y : Tensor = aten::div(%x, %b)
  return (%y))",
               {{DType::kFloat32, {s0(), 6}}}),
      ElementsAre("fill:constant int64[s0]", "reduce:sum int64[]", "cast float32[]", "elementwise:div float32[s0, 6]"));
}

TEST(Sizes, WhatNeedsANumberRefusesASymbol) {
  EXPECT_THAT(
      errorOf(R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = aten::unbind(%x, %zero)
  %a : Tensor, %b : Tensor = prim::ListUnpack(%list)
  return (%a))",
              {{DType::kFloat32, {s0(), 6}}}),
      ::testing::AllOf(::testing::HasSubstr("[C005] aten::unbind"), ::testing::HasSubstr("[dynamic-dimension]")));
}

}  // namespace
}  // namespace torchtrt::conversion::testing
