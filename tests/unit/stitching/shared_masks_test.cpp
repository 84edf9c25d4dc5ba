#include "stitching/shared_masks.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/irparser.h>

#include <string>

namespace torchtrt::stitching {
namespace {

std::string shared(const std::string& ir) {
  torch::jit::Graph graph;
  torch::jit::parseIR(ir, &graph);
  shareMasks(graph);
  graph.lint();
  return graph.toString(false);
}

void expectUnchanged(const std::string& ir) {
  torch::jit::Graph graph;
  torch::jit::parseIR(ir, &graph);
  EXPECT_EQ(shared(ir), graph.toString(false));
}

TEST(SharedMasks, OfTwoTensors) {
  EXPECT_EQ(shared(R"IR(
graph(%score : Tensor, %box : Tensor, %least : float):
  %keep : Tensor = aten::gt(%score, %least)
  %of_score : Tensor?[] = prim::ListConstruct(%keep)
  %s : Tensor = aten::index(%score, %of_score)
  %of_box : Tensor?[] = prim::ListConstruct(%keep)
  %b : Tensor = aten::index(%box, %of_box)
  %one : int = prim::Constant[value=1]()
  %sum : Tensor = aten::add(%s, %b, %one)
  return (%sum))IR"),
            R"IR(graph(%score : Tensor,
      %box : Tensor,
      %least : float):
  %3 : Tensor = aten::gt(%score, %least)
  %10 : Tensor[] = prim::ListConstruct(%score, %box)
  %11 : Tensor[] = tensorrt::index_by_mask(%10, %3)
  %12 : Tensor, %13 : Tensor = prim::ListUnpack(%11)
  %8 : int = prim::Constant[value=1]()
  %9 : Tensor = aten::add(%12, %13, %8)
  return (%9)
)IR");
}

TEST(SharedMasks, InsideOfALoop) {
  EXPECT_NE(shared(R"IR(
graph(%x : Tensor, %y : Tensor, %n : int):
  %true : bool = prim::Constant[value=1]()
  %out : Tensor = prim::Loop(%n, %true, %x)
    block0(%i : int, %carried : Tensor):
      %keep : Tensor = aten::ne(%carried, %i)
      %a : Tensor?[] = prim::ListConstruct(%keep)
      %p : Tensor = aten::index(%carried, %a)
      %z : Tensor = aten::relu(%y)
      %b : Tensor?[] = prim::ListConstruct(%keep)
      %q : Tensor = aten::index(%z, %b)
      %sum : Tensor = aten::add(%p, %q, %i)
      -> (%true, %sum)
  return (%out))IR")
                .find("tensorrt::index_by_mask"),
            std::string::npos);
}

TEST(SharedMasks, NotOfOneTensorOrOtherMasks) {
  expectUnchanged(R"IR(
graph(%x : Tensor, %y : Tensor, %given : Tensor):
  %keep : Tensor = aten::gt(%x, %y)
  %a : Tensor?[] = prim::ListConstruct(%keep)
  %p : Tensor = aten::index(%x, %a)
  %b : Tensor?[] = prim::ListConstruct(%given)
  %q : Tensor = aten::index(%x, %b)
  %c : Tensor?[] = prim::ListConstruct(%given)
  %r : Tensor = aten::index(%y, %c)
  return (%p, %q, %r))IR");
}

TEST(SharedMasks, NotOfWhatDependsOnTheFirst) {
  expectUnchanged(R"IR(
graph(%x : Tensor, %y : Tensor):
  %keep : Tensor = aten::gt(%x, %y)
  %a : Tensor?[] = prim::ListConstruct(%keep)
  %p : Tensor = aten::index(%x, %a)
  %z : Tensor = aten::relu(%p)
  %b : Tensor?[] = prim::ListConstruct(%keep)
  %q : Tensor = aten::index(%z, %b)
  return (%p, %q))IR");
}

TEST(SharedMasks, NotOverWrites) {
  expectUnchanged(R"IR(
graph(%x : Tensor, %y : Tensor, %number : Tensor):
  %keep : Tensor = aten::gt(%x, %y)
  %a : Tensor?[] = prim::ListConstruct(%keep)
  %p : Tensor = aten::index(%x, %a)
  %written : Tensor = aten::fill_(%y, %number)
  %b : Tensor?[] = prim::ListConstruct(%keep)
  %q : Tensor = aten::index(%y, %b)
  return (%p, %q, %written))IR");
}

TEST(SharedMasks, NotOfMasksBesideOtherIndices) {
  expectUnchanged(R"IR(
graph(%x : Tensor, %y : Tensor, %i : Tensor):
  %keep : Tensor = aten::gt(%x, %y)
  %a : Tensor?[] = prim::ListConstruct(%keep, %i)
  %p : Tensor = aten::index(%x, %a)
  %b : Tensor?[] = prim::ListConstruct(%keep, %i)
  %q : Tensor = aten::index(%y, %b)
  return (%p, %q))IR");
}

}  // namespace
}  // namespace torchtrt::stitching
