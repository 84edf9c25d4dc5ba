// Complex tensors while converting: which values are complex, and what layers their parts become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conversion/convert_text.h"

namespace torchtrt::conversion::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The kinds of nodes that give them, and of those whose blocks take them.
std::vector<std::string> complexGivers(const std::string& text) {
  const auto graph = parse(text);
  std::vector<std::string> kinds;
  const auto values = complexValues(*graph->block());
  const std::function<void(const torch::jit::Block&)> add = [&](const torch::jit::Block& block) {
    for (const torch::jit::Node* node : block.nodes()) {
      const auto add_values = [&](at::ArrayRef<const torch::jit::Value*> some, const std::string& what) {
        for (const torch::jit::Value* value : some) {
          if (values.count(value) != 0) {
            kinds.push_back(what + node->kind().toUnqualString());
          }
        }
      };
      for (const torch::jit::Block* inner : node->blocks()) {
        add_values(inner->inputs(), "into ");
        add(*inner);
      }
      add_values(node->outputs(), "");
    }
  };
  add(*graph->block());
  return kinds;
}

TEST(ComplexValues, FromWhatMakesThemToWhatGivesRealOnes) {
  EXPECT_THAT(complexGivers(R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %axis : int = prim::Constant[value=-1]()
  %one : int = prim::Constant[value=1]()
  %r : Tensor = aten::relu(%x)
  %z : Tensor = aten::fft_rfft(%r, %none, %axis, %none)
  %m : Tensor = aten::abs(%z)
  %w : Tensor = aten::mul(%z, %m)
  %size : int = aten::size(%w, %axis)
  %list : Tensor[] = prim::ListConstruct(%w, %r)
  %both : Tensor = aten::cat(%list, %axis)
  %y : Tensor = aten::fft_irfft(%both, %none, %axis, %none)
  %s : Tensor = aten::add(%y, %m, %one)
  return (%s, %size))"),
              ElementsAre("fft_rfft", "mul", "ListConstruct", "cat"));
}

TEST(ComplexValues, ThroughBranchesAndLoops) {
  EXPECT_THAT(complexGivers(R"(
graph(%x : Tensor, %which : bool):
  %go : bool = prim::Constant[value=1]()
  %trips : int = prim::Constant[value=3]()
  %a : Tensor = prim::If(%which)
    block0():
      %z : Tensor = aten::view_as_complex(%x)
      -> (%z)
    block1():
      -> (%x)
  %b : Tensor = prim::Loop(%trips, %go, %x)
    block0(%i : int, %carried : Tensor):
      %next : Tensor = aten::mul(%carried, %a)
      -> (%go, %next)
  %c : Tensor = aten::view_as_real(%b)
  return (%c))"),
              ElementsAre("view_as_complex", "If", "into Loop", "mul", "Loop"));
}

TEST(ComplexValues, DtypesAndNumbers) {
  EXPECT_THAT(complexGivers(R"(
graph(%x : Tensor):
  %complex64 : int = prim::Constant[value=9]()
  %float32 : int = prim::Constant[value=6]()
  %no : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %i : complex = prim::Constant[value=2j]()
  %z : Tensor = aten::to(%x, %complex64, %no, %no, %none)
  %r : Tensor = aten::to(%z, %float32, %no, %no, %none)
  %w : Tensor = aten::mul(%r, %i)
  return (%w))"),
              ElementsAre("Constant", "to", "mul"));
}

TEST(ComplexValues, OfTheBranchThatTheQuestionForThemTakes) {
  EXPECT_THAT(complexGivers(R"(
graph(%x : Tensor):
  %z : Tensor = aten::view_as_complex(%x)
  %asked : bool = prim::is_complex(%z)
  %a : Tensor = prim::If(%asked)
    block0():
      %m : Tensor = aten::abs(%z)
      -> (%m)
    block1():
      -> (%z)
  %negated : bool = aten::__not__(%asked)
  %b : Tensor = prim::If(%negated)
    block0():
      -> (%x)
    block1():
      -> (%z)
  return (%a, %b))"),
              ElementsAre("view_as_complex", "If"));
}

TEST(Complex, SquaresOfMagnitudesNeedNoRoot) {
  EXPECT_THAT(layersOf(R"(
graph(%a : Tensor, %b : Tensor):
  %two : float = prim::Constant[value=2.]()
  %z : Tensor = aten::complex(%a, %b)
  %m : Tensor = aten::abs(%z)
  %y : Tensor = aten::pow(%m, %two)
  return (%y))",
                       {{DType::kFloat32, {3}}, {DType::kFloat32, {3}}}),
              ::testing::Contains("elementwise:sum float32[3]"));
}

TEST(Complex, ProductsAreThoseOfTheParts) {
  EXPECT_THAT(layersOf(R"(
graph(%a : Tensor, %b : Tensor):
  %z : Tensor = aten::complex(%a, %b)
  %w : Tensor = aten::mul(%z, %z)
  %y : Tensor = aten::imag(%w)
  return (%y))",
                       {{DType::kFloat32, {s0(), 3}}, {DType::kFloat32, {s0(), 3}}}),
              ElementsAre("elementwise:prod float32[s0, 3]", "elementwise:prod float32[s0, 3]",
                          "elementwise:sub float32[s0, 3]", "elementwise:prod float32[s0, 3]",
                          "elementwise:prod float32[s0, 3]", "elementwise:sum float32[s0, 3]"));
}

TEST(Complex, LinearOperatorsRunOnEachPart) {
  EXPECT_THAT(layersOf(R"(
graph(%a : Tensor, %b : Tensor):
  %first : int = prim::Constant[value=0]()
  %second : int = prim::Constant[value=1]()
  %z : Tensor = aten::complex(%a, %b)
  %t : Tensor = aten::transpose(%z, %first, %second)
  %re : Tensor = aten::real(%t)
  %im : Tensor = aten::imag(%t)
  return (%re, %im))",
                       {{DType::kFloat64, {s0(), 3}}, {DType::kFloat64, {s0(), 3}}}),
              ElementsAre("shuffle float64[3, s0]", "shuffle float64[3, s0]"));
}

TEST(Complex, WhatHasNoLayersIsRefused) {
  EXPECT_THAT(errorOf(R"(
graph(%a : Tensor):
  %z : Tensor = aten::view_as_complex(%a)
  %w : Tensor = aten::tanh(%z)
  %y : Tensor = aten::real(%w)
  return (%y))",
                      {{DType::kFloat32, {3, 2}}}),
              HasSubstr("argument 'self' is complex, and there are no layers for that here"));
  EXPECT_THAT(errorOf(R"(
graph(%a : Tensor):
  %z : Tensor = aten::view_as_complex(%a)
  return (%z))",
                      {{DType::kFloat32, {3, 2}}}),
              HasSubstr("an output is complex, and engines give real tensors"));
}

TEST(Complex, ThePartitionersQuestion) {
  const auto graph = parse(R"(
graph(%a : Tensor):
  %z : Tensor = aten::view_as_complex(%a)
  %w : Tensor = aten::tanh(%z)
  %y : Tensor = aten::abs(%z)
  %r : Tensor = aten::view_as_real(%z)
  return (%w, %y, %r))");
  const auto values = complexValues(*graph->block());
  for (const torch::jit::Node* node : graph->nodes()) {
    EXPECT_FALSE(refusalOf(*node)) << *node;
    EXPECT_EQ(refusalOfComplex(*node, values).has_value(), node->kind() == torch::jit::aten::tanh);
  }
}

}  // namespace
}  // namespace torchtrt::conversion::testing
