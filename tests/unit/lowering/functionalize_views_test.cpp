// Writes to tensors of which every name is known: what becomes functional, and what has to stay.
#include <gtest/gtest.h>

#include <regex>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

const std::string kHead = R"(
graph(%x : Tensor, %y : Tensor, %condition : bool, %n : int):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %yes : bool = prim::Constant[value=1]()
  %fresh : Tensor = aten::sigmoid(%x)
)";

void expectFunctional(const std::string& before, const std::string& after) {
  expectPass("functionalize_views", kHead + before, kHead + after);
}

void expectStays(const std::string& text) {
  expectUnchanged("functionalize_views", kHead + text);
}

// `x[:, 1:] += y` is traced as the write, and a copy of its result to where that is already.
TEST(FunctionalizeViews, PartThatIsAddedToAndCopiedBack) {
  expectFunctional(R"(
  %rows : Tensor = aten::slice(%fresh, %zero, %one, %none, %one)
  %all : Tensor = aten::slice(%rows, %one, %zero, %none, %one)
  %part : Tensor = aten::slice(%all, %two, %one, %none, %one)
  %sum : Tensor = aten::add_(%part, %y, %one)
  %rows2 : Tensor = aten::slice(%fresh, %zero, %one, %none, %one)
  %all2 : Tensor = aten::slice(%rows2, %one, %zero, %none, %one)
  %part2 : Tensor = aten::slice(%all2, %two, %one, %none, %one)
  %copied : Tensor = aten::copy_(%part2, %sum, %no)
  %out : Tensor = aten::softmax(%fresh, %one, %none)
  return (%out))",
                   R"(
  %rows : Tensor = aten::slice(%fresh, %zero, %one, %none, %one)
  %part : Tensor = aten::slice(%rows, %two, %one, %none, %one)
  %sum : Tensor = aten::add(%part, %y, %one)
  %typed : Tensor = aten::type_as(%sum, %part)
  %new_rows : Tensor = aten::slice_scatter(%rows, %typed, %two, %one, %none, %one)
  %new : Tensor = aten::slice_scatter(%fresh, %new_rows, %zero, %one, %none, %one)
  %rows2 : Tensor = aten::slice(%new, %zero, %one, %none, %one)
  %part2 : Tensor = aten::slice(%rows2, %two, %one, %none, %one)
  %copied : Tensor = aten::copy(%part2, %typed, %no)
  %last_rows : Tensor = aten::slice_scatter(%rows2, %copied, %two, %one, %none, %one)
  %last : Tensor = aten::slice_scatter(%new, %last_rows, %zero, %one, %none, %one)
  %out : Tensor = aten::softmax(%last, %one, %none)
  return (%out))");
}

TEST(FunctionalizeViews, ViewsThatAreReadAfterTheWriteAreTakenAgain) {
  expectFunctional(R"(
  %row : Tensor = aten::select(%fresh, %zero, %zero)
  %turned : Tensor = aten::transpose(%fresh, %zero, %one)
  %before : Tensor = aten::exp(%turned)
  %written : Tensor = aten::relu_(%row)
  %after : Tensor = aten::exp(%turned)
  %row_after : Tensor = aten::exp(%row)
  return (%before, %after, %row_after, %fresh))",
                   R"(
  %row : Tensor = aten::select(%fresh, %zero, %zero)
  %turned : Tensor = aten::transpose(%fresh, %zero, %one)
  %before : Tensor = aten::exp(%turned)
  %written : Tensor = aten::relu(%row)
  %whole : Tensor = aten::select_scatter(%fresh, %written, %zero, %zero)
  %again : Tensor = aten::transpose(%whole, %zero, %one)
  %after : Tensor = aten::exp(%again)
  %row_after : Tensor = aten::exp(%written)
  return (%before, %after, %row_after, %whole))");
}

TEST(FunctionalizeViews, WritesThroughRearrangementsAreRearrangedBack) {
  expectFunctional(R"(
  %order : int[] = prim::ListConstruct(%two, %zero, %one)
  %sizes : int[] = prim::ListConstruct(%n, %n)
  %turned : Tensor = aten::permute(%fresh, %order)
  %longer : Tensor = aten::unsqueeze(%turned, %zero)
  %flat : Tensor = aten::view(%longer, %sizes)
  %written : Tensor = aten::relu_(%flat)
  return (%fresh))",
                   R"(
  %order : int[] = prim::ListConstruct(%two, %zero, %one)
  %sizes : int[] = prim::ListConstruct(%n, %n)
  %turned : Tensor = aten::permute(%fresh, %order)
  %longer : Tensor = aten::unsqueeze(%turned, %zero)
  %flat : Tensor = aten::view(%longer, %sizes)
  %written : Tensor = aten::relu(%flat)
  %regrouped : Tensor = aten::reshape_as(%written, %longer)
  %shorter : Tensor = aten::squeeze(%regrouped, %zero)
  %back : int[] = prim::Constant[value=[1, 2, 0]]()
  %whole : Tensor = aten::permute(%shorter, %back)
  return (%whole))");
}

TEST(FunctionalizeViews, PiecesAreTakenOutAndPutBackByNumber) {
  expectFunctional(R"(
  %pieces : Tensor[] = aten::unbind(%fresh, %one)
  %a : Tensor, %b : Tensor = prim::ListUnpack(%pieces)
  %halves : Tensor[] = aten::split(%fresh, %two, %zero)
  %c : Tensor, %d : Tensor = prim::ListUnpack(%halves)
  %written : Tensor = aten::relu_(%b)
  %other : Tensor = aten::neg_(%d)
  %sum : Tensor = aten::add(%a, %b, %one)
  return (%sum))",
                   R"(
  %pieces : Tensor[] = aten::unbind(%fresh, %one)
  %a : Tensor, %b : Tensor = prim::ListUnpack(%pieces)
  %written : Tensor = aten::relu(%b)
  %first : int = prim::Constant[value=1]()
  %whole : Tensor = aten::select_scatter(%fresh, %written, %one, %first)
  %halves : Tensor[] = aten::split(%whole, %two, %zero)
  %c : Tensor, %d : Tensor = prim::ListUnpack(%halves)
  %other : Tensor = aten::neg(%d)
  %start : int = prim::Constant[value=2]()
  %end : int = prim::Constant[value=4]()
  %step : int = prim::Constant[value=1]()
  %last : Tensor = aten::slice_scatter(%whole, %other, %zero, %start, %end, %step)
  %number_a : int = prim::Constant[value=0]()
  %new_a : Tensor = aten::select(%last, %one, %number_a)
  %number_b : int = prim::Constant[value=1]()
  %new_b : Tensor = aten::select(%last, %one, %number_b)
  %sum : Tensor = aten::add(%new_a, %new_b, %one)
  return (%sum))");
}

TEST(FunctionalizeViews, BranchesGiveTheWholeAsItIsBehindThem) {
  expectFunctional(R"(
  %row : Tensor = aten::select(%fresh, %zero, %zero)
  prim::If(%condition)
    block0():
      %written : Tensor = aten::relu_(%row)
      -> ()
    block1():
      -> ()
  %sum : Tensor = aten::add(%fresh, %row, %one)
  return (%sum))",
                   R"(
  %row : Tensor = aten::select(%fresh, %zero, %zero)
  %whole : Tensor = prim::If(%condition)
    block0():
      %written : Tensor = aten::relu(%row)
      %new : Tensor = aten::select_scatter(%fresh, %written, %zero, %zero)
      -> (%new)
    block1():
      -> (%fresh)
  %again : Tensor = aten::select(%whole, %zero, %zero)
  %sum : Tensor = aten::add(%whole, %again, %one)
  return (%sum))");
}

TEST(FunctionalizeViews, LoopsWhoseTripsSizesTellCarryTheWhole) {
  expectFunctional(R"(
  %trips : int = aten::size(%x, %one)
  prim::Loop(%trips, %yes)
    block0(%i : int):
      %row : Tensor = aten::select(%fresh, %zero, %i)
      %written : Tensor = aten::copy_(%row, %y, %no)
      -> (%yes)
  return (%fresh))",
                   R"(
  %trips : int = aten::size(%x, %one)
  %whole : Tensor = prim::Loop(%trips, %yes, %fresh)
    block0(%i : int, %100 : Tensor):
      %row : Tensor = aten::select(%100, %zero, %i)
      %written : Tensor = aten::copy(%row, %y, %no)
      %new : Tensor = aten::select_scatter(%100, %written, %zero, %i)
      -> (%yes, %new)
  return (%whole))");
}

// PyTorch would copy the whole at every trip.
TEST(FunctionalizeViews, LoopsWhoseTripsOnlyARunKnowsStay) {
  expectStays(R"(
  prim::Loop(%n, %yes)
    block0(%i : int):
      %row : Tensor = aten::select(%fresh, %zero, %i)
      %written : Tensor = aten::copy_(%row, %y, %no)
      -> (%yes)
  return (%fresh))");
}

TEST(FunctionalizeViews, WhatMayBeACopyIsReadBeforeTheWriteOrTheWriteStays) {
  const std::string head = "  %maybe : Tensor = aten::type_as(%fresh, %y)\n";
  const std::string read = "  %out : Tensor = aten::exp(%maybe)\n";
  expectStays(head + "  %written : Tensor = aten::relu_(%fresh)\n" + read + "  return (%out, %written)");
  expectFunctional(head + read + "  %written : Tensor = aten::relu_(%fresh)\n  return (%out, %written)",
                   head + read + "  %written : Tensor = aten::relu(%fresh)\n  return (%out, %written)");
}

// A copy is made where the elements lie with gaps, which a functional write closes.
TEST(FunctionalizeViews, WhatIsACopyOnlyForSomeLayoutsStays) {
  for (const std::string maybe : {"aten::reshape(%fresh, %sizes)", "aten::contiguous(%fresh, %zero)"}) {
    expectStays("  %sizes : int[] = prim::ListConstruct(%n)\n  %maybe : Tensor = " + maybe + R"(
  %written : Tensor = aten::relu_(%fresh)
  %out : Tensor = aten::exp(%maybe)
  return (%out, %written))");
  }
}

TEST(FunctionalizeViews, WhatMayBeACopyAndIsWrittenStays) {
  expectStays(R"(
  %sizes : int[] = prim::ListConstruct(%n)
  %maybe : Tensor = aten::reshape(%fresh, %sizes)
  %written : Tensor = aten::relu_(%maybe)
  return (%fresh))");
}

// Rows of one row's memory: a write to one of them is a write to all.
TEST(FunctionalizeViews, WritesThroughWhatRepeatsElementsStay) {
  expectStays(R"(
  %sizes : int[] = prim::ListConstruct(%n, %n)
  %rows : Tensor = aten::expand(%fresh, %sizes, %no)
  %row : Tensor = aten::select(%rows, %zero, %zero)
  %written : Tensor = aten::relu_(%row)
  return (%fresh))");
}

TEST(FunctionalizeViews, WhatAListOrTupleKeepsOverTheWriteStays) {
  for (const std::string kept :
       {"Tensor[] = prim::ListConstruct(%fresh)", "(Tensor, Tensor) = prim::TupleConstruct(%fresh, %y)"}) {
    expectStays("  %kept : " + kept + R"(
  %written : Tensor = aten::relu_(%fresh)
  return (%kept))");
    expectFunctional("  %written : Tensor = aten::relu_(%fresh)\n  %kept : " + kept + "\n  return (%kept)",
                     "  %written : Tensor = aten::relu(%fresh)\n  %kept : " +
                         std::regex_replace(kept, std::regex("%fresh"), "%written") + "\n  return (%kept)");
  }
}

TEST(FunctionalizeViews, WhatOthersGetHoldOfStays) {
  expectStays(R"(
  %list : Tensor[] = prim::ListConstruct(%y)
  %longer : Tensor[] = aten::append(%list, %fresh)
  %written : Tensor = aten::relu_(%fresh)
  return (%list))");
  expectStays(R"(
  %key : str = prim::Constant[value="key"]()
  %dictionary : Dict(str, Tensor) = prim::DictConstruct(%key, %fresh)
  %written : Tensor = aten::relu_(%fresh)
  return (%dictionary))");
}

TEST(FunctionalizeViews, WhatIsAskedWhetherItIsAnotherStays) {
  expectStays(R"(
  %written : Tensor = aten::relu_(%fresh)
  %same : bool = aten::__is__(%written, %fresh)
  return (%written, %same))");
}

TEST(FunctionalizeViews, WritesThatChangeShapesStay) {
  expectStays(R"(
  %turned : Tensor = aten::transpose(%fresh, %zero, %one)
  %written : Tensor = aten::t_(%fresh)
  return (%fresh, %turned))");
}

TEST(FunctionalizeViews, WritesToTheCallersTensorsStay) {
  expectStays(R"(
  %row : Tensor = aten::select(%x, %zero, %zero)
  %written : Tensor = aten::relu_(%row)
  %out : Tensor = aten::exp(%x)
  return (%out))");
}

TEST(FunctionalizeViews, WhatALoopCarriesOverTheWriteStays) {
  expectStays(R"(
  %trips : int = aten::size(%x, %one)
  %row : Tensor = aten::select(%fresh, %zero, %zero)
  %last : Tensor = prim::Loop(%trips, %yes, %row)
    block0(%i : int, %carried : Tensor):
      %read : Tensor = aten::exp(%carried)
      %written : Tensor = aten::relu_(%fresh)
      -> (%yes, %read)
  return (%last))");
}

// An in-place operator leaves the gaps of every second column where they are.
TEST(FunctionalizeViews, WritesBetweenGapsThatAreAskedForStay) {
  expectStays(R"(
  %columns : Tensor = aten::slice(%fresh, %one, %none, %none, %two)
  %written : Tensor = aten::relu_(%columns)
  %answer : bool = aten::is_contiguous(%written)
  return (%answer, %fresh))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
