#include "stitching/hoisted_constants.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/irparser.h>

#include "torchtrt/error.h"

namespace torchtrt::stitching {
namespace {

// A graph that reads a list of tensors first; the constants are inserted behind it, in the place of %a, %b, ...
struct Hoisted {
  std::string text;
  std::vector<at::Tensor> tensors;
};

Hoisted hoisted(const std::string& ir, const std::vector<torch::jit::IValue>& constants) {
  torch::jit::Graph graph;
  std::unordered_map<std::string, torch::jit::Value*> values;
  torch::jit::parseIR(ir, &graph, values);
  for (size_t i = 0; i < constants.size(); ++i) {
    torch::jit::Value* place = values.at(std::string(1, static_cast<char>('a' + i)));
    const torch::jit::WithInsertPoint here(place->node());
    place->replaceAllUsesWith(graph.insertConstant(constants[i]));
    place->node()->destroy();
  }
  Hoisted result;
  result.tensors = hoistConstants(graph, *graph.inputs()[0]->uses()[0].user->output());
  graph.lint();
  result.text = graph.toString(false);
  return result;
}

TEST(HoistConstants, TakesThemFromTheList) {
  const at::Tensor one = at::ones({2});
  const at::Tensor two = at::full({2}, 2);
  const Hoisted result = hoisted(R"IR(
graph(%given : Tensor[], %x : Tensor):
  %list : Tensor[] = aten::list(%given)
  %n : int = prim::Constant[value=1]()
  %a : Tensor = prim::Uninitialized()
  %b : Tensor = prim::Uninitialized()
  %y : Tensor = aten::add(%x, %a, %n)
  %z : Tensor = aten::mul(%y, %b)
  return (%z))IR",
                                 {one, two});
  EXPECT_EQ(result.text, R"IR(graph(%given : Tensor[],
      %x : Tensor):
  %2 : Tensor[] = aten::list(%given)
  %10 : Tensor, %11 : Tensor = prim::ListUnpack(%2)
  %3 : int = prim::Constant[value=1]()
  %6 : Tensor = aten::add(%x, %10, %3)
  %7 : Tensor = aten::mul(%6, %11)
  return (%7)
)IR");
  ASSERT_EQ(result.tensors.size(), 2U);
  EXPECT_TRUE(at::equal(result.tensors[0], one));
  EXPECT_TRUE(at::equal(result.tensors[1], two));
}

TEST(HoistConstants, MakesListsAndTuplesOfThem) {
  const Hoisted result = hoisted(
      R"IR(
graph(%given : Tensor[], %x : Tensor):
  %list : Tensor[] = aten::list(%given)
  %a : Tensor[] = prim::Uninitialized()
  %b : (Tensor, int) = prim::Uninitialized()
  %n : int = prim::Constant[value=0]()
  %y : Tensor = aten::cat(%a, %n)
  %t : Tensor, %i : int = prim::TupleUnpack(%b)
  %z : Tensor = aten::add(%y, %t, %i)
  return (%z))IR",
      {std::vector{at::ones({2}), at::ones({3})}, c10::ivalue::Tuple::create({at::ones({5}), torch::jit::IValue(3)})});
  EXPECT_EQ(result.tensors.size(), 3U);
  EXPECT_NE(result.text.find("prim::ListConstruct"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("prim::TupleConstruct"), std::string::npos) << result.text;
  EXPECT_EQ(result.text.find("value=<Tensor"), std::string::npos) << result.text;
}

TEST(HoistConstants, ReachesIntoBranches) {
  const Hoisted result = hoisted(R"IR(
graph(%given : Tensor[], %x : Tensor, %c : bool):
  %list : Tensor[] = aten::list(%given)
  %z : Tensor = prim::If(%c)
    block0():
      %a : Tensor = prim::Uninitialized()
      %y : Tensor = aten::mul(%x, %a)
      -> (%y)
    block1():
      -> (%x)
  return (%z))IR",
                                 {at::ones({2})});
  EXPECT_EQ(result.tensors.size(), 1U);
  EXPECT_LT(result.text.find("prim::ListUnpack"), result.text.find("prim::If")) << result.text;
}

TEST(HoistConstants, StaysTheSameWithoutTensors) {
  const std::string ir = R"IR(graph(%given : Tensor[],
      %x : Tensor):
  %2 : Tensor[] = aten::list(%given)
  %3 : int = prim::Constant[value=1]()
  %4 : NoneType = prim::Constant()
  %5 : int[] = prim::Constant[value=[2, 3]]()
  %6 : Tensor = aten::reshape(%x, %5)
  %7 : Tensor = aten::add(%6, %6, %3)
  return (%7)
)IR";
  const Hoisted result = hoisted(ir, {});
  EXPECT_EQ(result.text, ir);
  EXPECT_TRUE(result.tensors.empty());
}

TEST(HoistConstants, RefusesDictionariesOfTensors) {
  c10::Dict<std::string, at::Tensor> dictionary;
  dictionary.insert("w", at::ones({2}));
  try {
    hoisted(R"IR(
graph(%given : Tensor[], %x : Tensor):
  %list : Tensor[] = aten::list(%given)
  %a : Dict(str, Tensor) = prim::Uninitialized()
  %k : str = prim::Constant[value="w"]()
  %w : Tensor = aten::__getitem__(%a, %k)
  return (%w))IR",
            {dictionary});
    FAIL() << "was hoisted";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidModule);
    EXPECT_NE(std::string(error.what()).find("whose weights no update could replace"), std::string::npos);
  }
}

}  // namespace
}  // namespace torchtrt::stitching
