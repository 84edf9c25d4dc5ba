// The other rewrites, and the pipeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "lowering/ir_text.h"
#include "lowering/lowering.h"
#include "lowering/pass.h"

namespace torchtrt::lowering::testing {
namespace {

constexpr const char* kGuarded = R"(
graph(%x : Tensor):
  %four : int = prim::Constant[value=4]()
  %text : str = prim::Constant[value="expected 4 dimensions"]()
  %rank : int = aten::dim(%x)
  %wrong : bool = aten::ne(%rank, %four)
  prim::If(%wrong)
    block0():
      prim::RaiseException(%text, %text)
      -> ()
    block1():
      -> ()
  %out : Tensor = aten::relu(%x)
  return (%out))";

TEST(RemoveExceptions, DropsTheBranchThatRaises) {
  expectPass("remove_exceptions", kGuarded, R"(
graph(%x : Tensor):
  %four : int = prim::Constant[value=4]()
  %text : str = prim::Constant[value="expected 4 dimensions"]()
  %rank : int = aten::dim(%x)
  %wrong : bool = aten::ne(%rank, %four)
  %out : Tensor = aten::relu(%x)
  return (%out))");
}

TEST(RemoveExceptions, KeepsABranchOfWhichNoSideRaises) {
  expectUnchanged("remove_exceptions", R"(
graph(%x : Tensor, %condition : bool):
  %out : Tensor = prim::If(%condition)
    block0():
      %a : Tensor = aten::relu(%x)
      -> (%a)
    block1():
      -> (%x)
  return (%out))");
}

TEST(RemoveExceptions, KeepsABranchOfWhichBothSidesRaise) {
  expectUnchanged("remove_exceptions", R"(
graph(%x : Tensor, %condition : bool):
  %one : str = prim::Constant[value="one"]()
  %other : str = prim::Constant[value="other"]()
  prim::If(%condition)
    block0():
      prim::RaiseException(%one, %one)
      -> ()
    block1():
      prim::RaiseException(%other, %other)
      -> ()
  return (%x))");
}

TEST(PoolConstants, NoneOfAnotherTypeStays) {
  expectUnchanged("pool_constants", R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %no_number : int? = prim::Constant()
  %both : (NoneType, int?) = prim::TupleConstruct(%none, %no_number)
  return (%both))");
}

TEST(PoolConstants, EqualNumbersBecomeOneButNotOfAnotherType) {
  expectPass("pool_constants", R"(
graph(%x : Tensor):
  %a : int = prim::Constant[value=1]()
  %y : Tensor = aten::flatten(%x, %a, %a)
  %b : int = prim::Constant[value=1]()
  %c : float = prim::Constant[value=1.]()
  %z : Tensor = aten::add(%y, %c, %b)
  return (%z))",
             R"(
graph(%x : Tensor):
  %a : int = prim::Constant[value=1]()
  %c : float = prim::Constant[value=1.]()
  %y : Tensor = aten::flatten(%x, %a, %a)
  %z : Tensor = aten::add(%y, %c, %a)
  return (%z))");
}

TEST(UnrollLoops, ConstantTripsOnly) {
  expectUnchanged("unroll_loops", R"(
graph(%x : Tensor, %trips : int):
  %true : bool = prim::Constant[value=1]()
  %out : Tensor = prim::Loop(%trips, %true, %x)
    block0(%i : int, %carried : Tensor):
      %next : Tensor = aten::relu(%carried)
      -> (%true, %next)
  return (%out))");
}

TEST(Pipeline, NamesAreUniqueAndEveryPassHasAMeaning) {
  std::set<std::string> names;
  for (const Pass& pass : pipeline()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_STRNE(pass.meaning, "") << pass.name;
    EXPECT_EQ(findPass(pass.name), &pass);
  }
}

// The test runs in the root of the repository.
TEST(Pipeline, IsWhatTheDocumentationSays) {
  std::ifstream file("docs/passes.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str().ends_with("\n" + pipelineMarkdown())) << "docs/passes.md has to end with\n"
                                                               << pipelineMarkdown();
}

TEST(Pipeline, HoldsEveryRewriteInItsOrder) {
  const auto place = [](const std::string& name) {
    const auto& passes = pipeline();
    const auto found = std::find_if(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; });
    EXPECT_NE(found, passes.end()) << name;
    return found - passes.begin();
  };
  EXPECT_EQ(place("freeze_attributes"), 0);
  EXPECT_EQ(place("inline_calls"), 1);
  // Writes to the module's own tensors, and to arguments, are gone, as far as they go, before other writes are looked
  // at.
  EXPECT_EQ(place("functionalize_state") + 2, place("functionalize_views"));
  EXPECT_EQ(place("functionalize_arguments") + 1, place("functionalize_views"));
  // Equal computations become one behind the pins: they are not equal where their precisions differ.
  EXPECT_EQ(place("pin_precisions"), place("normalize_views") + 1);
  EXPECT_LT(place("pin_precisions"), place("eliminate_common_subexpressions"));
}

TEST(Pipeline, UnrollsLoopsAndLeavesNoListBehind) {
  const auto lowered = lower(parse(R"(
graph(%x : Tensor):
  %three : int = prim::Constant[value=2]()
  %one : int = prim::Constant[value=1]()
  %true : bool = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%x)
  prim::Loop(%three, %true)
    block0(%i : int):
      %joined : Tensor = aten::cat(%list, %one)
      %active : Tensor = aten::relu(%joined)
      %unused : Tensor[] = aten::append(%list, %active)
      -> (%true)
  %out : Tensor = aten::cat(%list, %one)
  return (%out))"),
                             {.disabled_passes = {}, .dump_after = "", .verify = true});
  EXPECT_EQ(textOf(*lowered.graph), textOf(*parse(R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%x)
  %first_joined : Tensor = aten::cat(%list, %one)
  %first : Tensor = aten::relu(%first_joined)
  %longer : Tensor[] = prim::ListConstruct(%x, %first)
  %second_joined : Tensor = aten::cat(%longer, %one)
  %second : Tensor = aten::relu(%second_joined)
  %longest : Tensor[] = prim::ListConstruct(%x, %first, %second)
  %out : Tensor = aten::cat(%longest, %one)
  return (%out))")));
}

TEST(Pipeline, ADisabledPassDoesNotRun) {
  const auto lowered =
      lower(parse(kGuarded), {.disabled_passes = {"remove_exceptions"}, .dump_after = "", .verify = true});
  EXPECT_NE(textOf(*lowered.graph).find("prim::RaiseException"), std::string::npos);
}

}  // namespace
}  // namespace torchtrt::lowering::testing
