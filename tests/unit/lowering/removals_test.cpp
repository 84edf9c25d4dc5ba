// What lowering drops: questions with one answer, dropout, views and copies that nobody can tell.
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(FoldIdentities, AValueIsItself) {
  expectPass("fold-identities", R"(
graph(%x : Tensor):
  %same : bool = aten::__is__(%x, %x)
  %other : bool = aten::__isnot__(%x, %x)
  return (%same, %other))",
             R"(
graph(%x : Tensor):
  %same : bool = prim::Constant[value=1]()
  %other : bool = prim::Constant[value=0]()
  return (%same, %other))");
}

TEST(FoldIdentities, TwoValuesMayBeOneObject) {
  expectUnchanged("fold-identities", R"(
graph(%x : Tensor, %y : Tensor):
  %format : int = prim::Constant[value=0]()
  %z : Tensor = aten::contiguous(%x, %format)
  %one : bool = aten::__is__(%x, %y)
  %two : bool = aten::__isnot__(%x, %z)
  return (%one, %two))");
}

TEST(RemoveDropout, OnlyWithoutTraining) {
  expectPass("remove-dropout", R"(
graph(%x : Tensor):
  %p : float = prim::Constant[value=0.5]()
  %no : bool = prim::Constant[value=0]()
  %out : Tensor = aten::dropout(%x, %p, %no)
  return (%out))",
             R"(
graph(%x : Tensor):
  %p : float = prim::Constant[value=0.5]()
  %no : bool = prim::Constant[value=0]()
  return (%x))");
  expectUnchanged("remove-dropout", R"(
graph(%x : Tensor):
  %p : float = prim::Constant[value=0.5]()
  %yes : bool = prim::Constant[value=1]()
  %out : Tensor = aten::dropout(%x, %p, %yes)
  return (%out))");
}

TEST(RemoveNoOps, DropsViewsAndCopiesThatNobodyCanTell) {
  expectPass("remove-no-ops", R"(
graph(%x : Tensor):
  %format : int = prim::Constant[value=0]()
  %a : Tensor = aten::detach(%x)
  %b : Tensor = aten::contiguous(%a, %format)
  %out : Tensor = aten::relu(%b)
  return (%out))",
             R"(
graph(%x : Tensor):
  %format : int = prim::Constant[value=0]()
  %out : Tensor = aten::relu(%x)
  return (%out))");
}

TEST(RemoveNoOps, KeepsAReturnedCopy) {
  expectUnchanged("remove-no-ops", R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %out : Tensor = aten::clone(%x, %none)
  return (%out))");
}

TEST(RemoveNoOps, KeepsCopiesWhereStridesAreRead) {
  expectUnchanged("remove-no-ops", R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %format : int = prim::Constant[value=0]()
  %sizes : int[] = prim::Constant[value=[2, 2]]()
  %rows : Tensor = aten::contiguous(%x, %format)
  %out : Tensor = aten::as_strided(%rows, %sizes, %sizes, %none)
  return (%out))");
}

TEST(RemoveNoOps, KeepsCopiesWhereLayoutIsAskedFor) {
  expectUnchanged("remove-no-ops", R"(
graph(%x : Tensor):
  %format : int = prim::Constant[value=0]()
  %rows : Tensor = aten::contiguous(%x, %format)
  %sum : Tensor = aten::exp(%rows)
  %out : bool = aten::is_contiguous(%sum)
  return (%out))");
}

TEST(RemoveNoOps, KeepsCopiesWhereAWriteShowsLayout) {
  const std::string text = R"(
graph(%x : Tensor, %size : int[]):
  %one : int = prim::Constant[value=1]()
  %format : int = prim::Constant[value=0]()
  %rows : Tensor = aten::contiguous(%x, %format)
  %fresh : Tensor = aten::exp(%rows)
  %line : Tensor = aten::reshape(%fresh, %size)
)";
  expectUnchanged("remove-no-ops", text + "  %out : Tensor = aten::add_(%line, %one, %one)\n  return (%out, %fresh)");
  expectPass("remove-no-ops", text + "  %out : Tensor = aten::add(%line, %one, %one)\n  return (%out, %fresh)", R"(
graph(%x : Tensor, %size : int[]):
  %one : int = prim::Constant[value=1]()
  %format : int = prim::Constant[value=0]()
  %fresh : Tensor = aten::exp(%x)
  %line : Tensor = aten::reshape(%fresh, %size)
  %out : Tensor = aten::add(%line, %one, %one)
  return (%out, %fresh))");
}

TEST(RemoveNoOps, KeepsACopyOfWhatIsWrittenInSecret) {
  expectUnchanged("remove-no-ops", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %turned : str = prim::Constant[value="ij->ji"]()
  %operands : Tensor[] = prim::ListConstruct(%x)
  %view : Tensor = aten::einsum(%turned, %operands, %none)
  %copy : Tensor = aten::clone(%view, %none)
  %written : Tensor = aten::add_(%x, %one, %one)
  %out : Tensor = aten::neg(%copy)
  return (%out))");
}

TEST(RemoveNoOps, KeepsACopyThatIsWrittenTo) {
  expectUnchanged("remove-no-ops", R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %copy : Tensor = aten::clone(%x, %none)
  %written : Tensor = aten::relu_(%copy)
  %out : Tensor = aten::neg(%written)
  return (%out))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
