// Lowering drops questions with one answer, dropout, and views and copies that nobody can tell.
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(FoldIdentities, AValueIsItself) {
  expectPass("fold_identities", R"(
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
  expectUnchanged("fold_identities", R"(
graph(%x : Tensor, %y : Tensor):
  %format : int = prim::Constant[value=0]()
  %z : Tensor = aten::contiguous(%x, %format)
  %one : bool = aten::__is__(%x, %y)
  %two : bool = aten::__isnot__(%x, %z)
  return (%one, %two))");
}

TEST(FoldIdentities, WhatIsMadeIsNobodyElse) {
  expectPass("fold_identities", R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %made : Tensor = aten::relu(%x)
  %turned : Tensor = aten::transpose(%x, %zero, %one)
  %a : bool = aten::__is__(%made, %y)
  %b : bool = aten::__isnot__(%turned, %x)
  %c : bool = aten::__is__(%made, %turned)
  return (%a, %b, %c))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %no : bool = prim::Constant[value=0]()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %made : Tensor = aten::relu(%x)
  %turned : Tensor = aten::transpose(%x, %zero, %one)
  %b : bool = prim::Constant[value=1]()
  return (%no, %b, %no))");
}

TEST(FoldIdentities, ABranchSaysWhetherItsResultsAreOne) {
  expectPass("fold_identities", R"(
graph(%x : Tensor, %c : bool):
  %zero : int = prim::Constant[value=0]()
  %q : Tensor, %k : Tensor = prim::If(%c)
    block0():
      %turned : Tensor = aten::transpose(%x, %zero, %zero)
      -> (%turned, %turned)
    block1():
      %one : Tensor = aten::relu(%x)
      -> (%one, %x)
  %same : bool = aten::__is__(%q, %k)
  return (%same))",
             R"(
graph(%x : Tensor, %c : bool):
  %no : bool = prim::Constant[value=0]()
  %yes : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %q : Tensor, %k : Tensor, %same : bool = prim::If(%c)
    block0():
      %turned : Tensor = aten::transpose(%x, %zero, %zero)
      -> (%turned, %turned, %yes)
    block1():
      %one : Tensor = aten::relu(%x)
      -> (%one, %x, %no)
  return (%same))");
}

TEST(FoldIdentities, ABranchSaysWhetherItsResultIsNone) {
  expectPass("fold_identities", R"(
graph(%x : Tensor, %c : bool):
  %none : NoneType = prim::Constant()
  %mask : Tensor? = prim::If(%c)
    block0():
      -> (%none)
    block1():
      -> (%x)
  %is_none : bool = aten::__is__(%mask, %none)
  return (%is_none))",
             R"(
graph(%x : Tensor, %c : bool):
  %no : bool = prim::Constant[value=0]()
  %yes : bool = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %mask : Tensor?, %is_none : bool = prim::If(%c)
    block0():
      -> (%none, %yes)
    block1():
      -> (%x, %no)
  return (%is_none))");
}

TEST(FoldIdentities, ASideThatNobodyKnowsAsksWhenItIsTaken) {
  expectPass("fold_identities", R"(
graph(%x : Tensor, %y : Tensor, %c : bool, %d : bool):
  %zero : int = prim::Constant[value=0]()
  %k : Tensor, %v : Tensor = prim::If(%c)
    block0():
      %a : Tensor = aten::transpose(%x, %zero, %zero)
      %b : Tensor = aten::transpose(%y, %zero, %zero)
      -> (%a, %b)
    block1():
      -> (%x, %y)
  %key : Tensor, %value : Tensor = prim::If(%d)
    block0():
      %e : Tensor = aten::unsqueeze(%k, %zero)
      %f : Tensor = aten::unsqueeze(%v, %zero)
      -> (%e, %f)
    block1():
      -> (%k, %v)
  %same : bool = aten::__is__(%key, %value)
  return (%same))",
             R"(
graph(%x : Tensor, %y : Tensor, %c : bool, %d : bool):
  %no : bool = prim::Constant[value=0]()
  %zero : int = prim::Constant[value=0]()
  %k : Tensor, %v : Tensor, %inner : bool = prim::If(%c)
    block0():
      %a : Tensor = aten::transpose(%x, %zero, %zero)
      %b : Tensor = aten::transpose(%y, %zero, %zero)
      -> (%a, %b, %no)
    block1():
      %asked : bool = aten::__is__(%x, %y)
      -> (%x, %y, %asked)
  %key : Tensor, %value : Tensor, %same : bool = prim::If(%d)
    block0():
      %e : Tensor = aten::unsqueeze(%k, %zero)
      %f : Tensor = aten::unsqueeze(%v, %zero)
      -> (%e, %f, %no)
    block1():
      -> (%k, %v, %inner)
  return (%same))");
}

TEST(FoldIdentities, WhatNobodyKnowsOfEitherSideStays) {
  expectUnchanged("fold_identities", R"(
graph(%x : Tensor, %y : Tensor, %z : Tensor, %maybe : Tensor?, %c : bool):
  %none : NoneType = prim::Constant()
  %train : bool = prim::Constant[value=0]()
  %p : float = prim::Constant[value=0.5]()
  %same : Tensor = aten::dropout(%x, %p, %train)
  %either : Tensor = prim::If(%c)
    block0():
      -> (%x)
    block1():
      -> (%z)
  %optional : Tensor? = prim::If(%c)
    block0():
      -> (%maybe)
    block1():
      -> (%none)
  %one : bool = aten::__is__(%either, %y)
  %two : bool = aten::__is__(%maybe, %none)
  %three : bool = aten::__is__(%same, %x)
  %four : bool = aten::__is__(%optional, %none)
  return (%one, %two, %three, %four))");
}

TEST(FlattenBranchTuples, ATupleIsMadeBehindTheBranch) {
  expectPass("flatten_branch_tuples", R"(
graph(%x : Tensor, %c : bool):
  %none : NoneType = prim::Constant()
  %both : (Tensor, Tensor?) = prim::If(%c)
    block0():
      %inner : (Tensor, Tensor?) = prim::If(%c)
        block0():
          %one : (Tensor, Tensor?) = prim::TupleConstruct(%x, %none)
          -> (%one)
        block1():
          %two : (Tensor, Tensor?) = prim::TupleConstruct(%x, %x)
          -> (%two)
      -> (%inner)
    block1():
      %never : (Tensor, Tensor?) = prim::Uninitialized()
      -> (%never)
  return (%both))",
             R"(
graph(%x : Tensor, %c : bool):
  %none : NoneType = prim::Constant()
  %first : Tensor, %second : Tensor? = prim::If(%c)
    block0():
      %a : Tensor, %b : Tensor? = prim::If(%c)
        block0():
          %one : (Tensor, Tensor?) = prim::TupleConstruct(%x, %none)
          -> (%x, %none)
        block1():
          %two : (Tensor, Tensor?) = prim::TupleConstruct(%x, %x)
          -> (%x, %x)
      %inner : (Tensor, Tensor?) = prim::TupleConstruct(%a, %b)
      -> (%a, %b)
    block1():
      %u : Tensor = prim::Uninitialized()
      %v : Tensor? = prim::Uninitialized()
      %never : (Tensor, Tensor?) = prim::Uninitialized()
      -> (%u, %v)
  %both : (Tensor, Tensor?) = prim::TupleConstruct(%first, %second)
  return (%both))");
}

TEST(FlattenBranchTuples, NotOneThatSomebodyElseMade) {
  expectUnchanged("flatten_branch_tuples", R"(
graph(%given : (Tensor, Tensor), %x : Tensor, %c : bool):
  %both : (Tensor, Tensor) = prim::If(%c)
    block0():
      -> (%given)
    block1():
      %made : (Tensor, Tensor) = prim::TupleConstruct(%x, %x)
      -> (%made)
  return (%both))");
}

TEST(RemoveDropout, OnlyWithoutTraining) {
  expectPass("remove_dropout", R"(
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
  expectUnchanged("remove_dropout", R"(
graph(%x : Tensor):
  %p : float = prim::Constant[value=0.5]()
  %yes : bool = prim::Constant[value=1]()
  %out : Tensor = aten::dropout(%x, %p, %yes)
  return (%out))");
}

TEST(RemoveNoOps, DropsViewsAndCopiesThatNobodyCanTell) {
  expectPass("remove_no_ops", R"(
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
  expectUnchanged("remove_no_ops", R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %out : Tensor = aten::clone(%x, %none)
  return (%out))");
}

TEST(RemoveNoOps, KeepsCopiesWhereStridesAreRead) {
  expectUnchanged("remove_no_ops", R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %format : int = prim::Constant[value=0]()
  %sizes : int[] = prim::Constant[value=[2, 2]]()
  %rows : Tensor = aten::contiguous(%x, %format)
  %out : Tensor = aten::as_strided(%rows, %sizes, %sizes, %none)
  return (%out))");
}

TEST(RemoveNoOps, KeepsCopiesWhereLayoutIsAskedFor) {
  expectUnchanged("remove_no_ops", R"(
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
  expectUnchanged("remove_no_ops", text + "  %out : Tensor = aten::add_(%line, %one, %one)\n  return (%out, %fresh)");
  expectPass("remove_no_ops", text + "  %out : Tensor = aten::add(%line, %one, %one)\n  return (%out, %fresh)", R"(
graph(%x : Tensor, %size : int[]):
  %one : int = prim::Constant[value=1]()
  %format : int = prim::Constant[value=0]()
  %fresh : Tensor = aten::exp(%x)
  %line : Tensor = aten::reshape(%fresh, %size)
  %out : Tensor = aten::add(%line, %one, %one)
  return (%out, %fresh))");
}

TEST(RemoveNoOps, KeepsACopyOfWhatIsWrittenInSecret) {
  expectUnchanged("remove_no_ops", R"(
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
  expectUnchanged("remove_no_ops", R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %copy : Tensor = aten::clone(%x, %none)
  %written : Tensor = aten::relu_(%copy)
  %out : Tensor = aten::neg(%written)
  return (%out))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
