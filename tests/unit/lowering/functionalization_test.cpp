// In-place operators and list mutation become functional, or stay if somebody could see the difference.
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(FunctionalizeTensors, WriteToAFreshTensorBecomesFunctional) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor):
  %fresh : Tensor = aten::sigmoid(%x)
  %out : Tensor = aten::relu_(%fresh)
  return (%out))",
             R"(
graph(%x : Tensor):
  %fresh : Tensor = aten::sigmoid(%x)
  %out : Tensor = aten::relu(%fresh)
  return (%out))");
}

TEST(FunctionalizeTensors, LaterReadsOfTheWrittenValueSeeTheResult) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor):
  %fresh : Tensor = aten::sigmoid(%x)
  %before : Tensor = aten::exp(%fresh)
  %unused : Tensor = aten::relu_(%fresh)
  %after : Tensor = aten::neg(%fresh)
  return (%before, %after))",
             R"(
graph(%x : Tensor):
  %fresh : Tensor = aten::sigmoid(%x)
  %before : Tensor = aten::exp(%fresh)
  %written : Tensor = aten::relu(%fresh)
  %after : Tensor = aten::neg(%written)
  return (%before, %after))");
}

TEST(FunctionalizeTensors, TwoOperandsKeepTheTypeOfTheFirst) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %fresh : Tensor = aten::sigmoid(%x)
  %sum : Tensor = aten::add_(%fresh, %y, %one)
  %out : Tensor = aten::relu_(%sum)
  return (%out))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %fresh : Tensor = aten::sigmoid(%x)
  %sum : Tensor = aten::add(%fresh, %y, %one)
  %typed : Tensor = aten::type_as(%sum, %fresh)
  %out : Tensor = aten::relu(%typed)
  return (%out))");
}

TEST(FunctionalizeTensors, WhatALoopMayHandOnStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %n : int):
  %one : int = prim::Constant[value=1]()
  %yes : bool = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%n, %yes, %x)
    block0(%i : int, %a : Tensor):
      %b : Tensor = aten::sigmoid(%a)
      -> (%yes, %b)
  %written : Tensor = aten::sub_(%y, %y, %one)
  %out : Tensor = aten::neg(%y)
  return (%out))");
}

TEST(FunctionalizeTensors, PartsAreWrittenBackIntoTheWhole) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %rows : Tensor = aten::slice(%fresh, %zero, %one, %none, %one)
  %column : Tensor = aten::select(%rows, %one, %zero)
  %written : Tensor = aten::copy_(%column, %y, %no)
  %out : Tensor = aten::neg(%fresh)
  return (%out))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %rows : Tensor = aten::slice(%fresh, %zero, %one, %none, %one)
  %column : Tensor = aten::select(%rows, %one, %zero)
  %copied : Tensor = aten::copy(%column, %y, %no)
  %typed : Tensor = aten::type_as(%copied, %column)
  %new_rows : Tensor = aten::select_scatter(%rows, %typed, %one, %zero)
  %whole : Tensor = aten::slice_scatter(%fresh, %new_rows, %zero, %one, %none, %one)
  %out : Tensor = aten::neg(%whole)
  return (%out))");
}

// All rows are one row of memory.
TEST(FunctionalizeTensors, PartsOfWhatIsExpandedStay) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %y : Tensor, %sizes : int[]):
  %zero : int = prim::Constant[value=0]()
  %no : bool = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %rows : Tensor = aten::expand(%fresh, %sizes, %no)
  %row : Tensor = aten::select(%rows, %zero, %zero)
  %written : Tensor = aten::copy_(%row, %y, %no)
  %out : Tensor = aten::neg(%rows)
  return (%out))");
}

TEST(FunctionalizeTensors, PartsThatAnotherViewShowsStay) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %no : bool = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %other : Tensor = aten::select(%fresh, %zero, %zero)
  %row : Tensor = aten::select(%fresh, %zero, %zero)
  %written : Tensor = aten::copy_(%row, %y, %no)
  %out : Tensor = aten::neg(%other)
  return (%out))");
}

TEST(FunctionalizeTensors, PiecesOfUnsafeChunkShareNothing) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor):
  %two : int = prim::Constant[value=2]()
  %one : int = prim::Constant[value=1]()
  %fresh : Tensor = aten::neg(%x)
  %pieces : Tensor[] = aten::unsafe_chunk(%fresh, %two, %one)
  %a : Tensor, %b : Tensor = prim::ListUnpack(%pieces)
  %c : Tensor = aten::sigmoid_(%a)
  %d : Tensor = aten::tanh_(%b)
  %out : Tensor = aten::mul(%c, %d)
  return (%out))",
             R"(
graph(%x : Tensor):
  %two : int = prim::Constant[value=2]()
  %one : int = prim::Constant[value=1]()
  %fresh : Tensor = aten::neg(%x)
  %pieces : Tensor[] = aten::unsafe_chunk(%fresh, %two, %one)
  %a : Tensor, %b : Tensor = prim::ListUnpack(%pieces)
  %c : Tensor = aten::sigmoid(%a)
  %d : Tensor = aten::tanh(%b)
  %out : Tensor = aten::mul(%c, %d)
  return (%out))");
}

TEST(FunctionalizeTensors, ViewWhoseBaseIsNotReadAgain) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %last : int = prim::Constant[value=-1]()
  %fresh : Tensor = aten::sigmoid(%x)
  %view : Tensor = aten::flatten(%fresh, %one, %last)
  %out : Tensor = aten::relu_(%view)
  return (%out))",
             R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %last : int = prim::Constant[value=-1]()
  %fresh : Tensor = aten::sigmoid(%x)
  %view : Tensor = aten::flatten(%fresh, %one, %last)
  %out : Tensor = aten::relu(%view)
  return (%out))");
}

// An in-place operator keeps the gaps of every second column, and a functional one does not.
TEST(FunctionalizeTensors, WriteBetweenGapsThatAreAskedForStays) {
  const std::string head = R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %fresh : Tensor = aten::sigmoid(%x)
)";
  const std::string columns = "  %columns : Tensor = aten::slice(%fresh, %one, %none, %none, %two)\n";
  const std::string question = "  %answer : bool = aten::is_contiguous(%written)\n  return (%answer, %written)";
  expectUnchanged("functionalize_tensors", head + columns + "  %written : Tensor = aten::relu_(%columns)\n" + question);
  expectPass("functionalize_tensors", head + "  %written : Tensor = aten::relu_(%fresh)\n" + question,
             head + "  %written : Tensor = aten::relu(%fresh)\n" + question);
}

// Nor is a functional result copied where what it takes the place of is.
TEST(FunctionalizeTensors, WriteBetweenGapsThatALaterWriteShowsStays) {
  const std::string head = R"(
graph(%x : Tensor):
  %none : NoneType = prim::Constant()
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %last : int = prim::Constant[value=-1]()
  %fresh : Tensor = aten::sigmoid(%x)
  %columns : Tensor = aten::slice(%fresh, %one, %none, %none, %two)
)";
  const std::string line = "  %line : Tensor = aten::flatten(%written, %zero, %last)\n";
  const std::string read = line + "  %out : Tensor = aten::add(%line, %one, %one)\n  return (%out, %written)";
  const std::string write = line + "  %out : Tensor = aten::add_(%line, %one, %one)\n  return (%out, %written)";
  const std::string in_place = "  %written : Tensor = aten::relu_(%columns)\n";
  expectUnchanged("functionalize_tensors", head + in_place + write);
  expectPass("functionalize_tensors", head + in_place + read,
             head + "  %written : Tensor = aten::relu(%columns)\n" + read);
}

TEST(FunctionalizeTensors, FillBecomesAFullTensor) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor):
  %two : int = prim::Constant[value=2]()
  %fresh : Tensor = aten::sigmoid(%x)
  %out : Tensor = aten::fill_(%fresh, %two)
  return (%out))",
             R"(
graph(%x : Tensor):
  %two : int = prim::Constant[value=2]()
  %fresh : Tensor = aten::sigmoid(%x)
  %none : NoneType = prim::Constant()
  %out : Tensor = aten::full_like(%fresh, %two, %none, %none, %none, %none, %none)
  return (%out))");
}

TEST(FunctionalizeTensors, WriteToAnInputStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %out : Tensor = aten::relu_(%x)
  return (%out))");
}

TEST(FunctionalizeTensors, WriteToAViewOfAnInputStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %row : Tensor = aten::select(%x, %zero, %zero)
  %out : Tensor = aten::relu_(%row)
  return (%out))");
}

TEST(FunctionalizeTensors, WriteToAViewWhoseBaseIsReadAgainStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %row : Tensor = aten::transpose(%fresh, %zero, %zero)
  %written : Tensor = aten::relu_(%row)
  return (%fresh))");
}

TEST(FunctionalizeTensors, WriteToABaseWhoseViewIsReadAgainStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %row : Tensor = aten::select(%fresh, %zero, %zero)
  %written : Tensor = aten::relu_(%fresh)
  return (%row))");
}

TEST(FunctionalizeTensors, WriteToAConstantStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %buffer : Float(2) = prim::Constant[value=<Tensor>]()
  %out : Tensor = aten::add_(%buffer, %x, %one)
  return (%out))");
}

TEST(FunctionalizeTensors, WriteToAnElementOfAReturnedListStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %fresh : Tensor = aten::sigmoid(%x)
  %list : Tensor[] = prim::ListConstruct(%fresh)
  %written : Tensor = aten::relu_(%fresh)
  return (%list))");
}

TEST(FunctionalizeTensors, WriteInABranchToAnOuterTensorStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %condition : bool):
  %fresh : Tensor = aten::sigmoid(%x)
  %out : Tensor = prim::If(%condition)
    block0():
      %written : Tensor = aten::relu_(%fresh)
      -> (%written)
    block1():
      -> (%x)
  return (%out))");
}

TEST(FunctionalizeTensors, WriteInALoopToWhatTheNextTripReadsStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %trips : int):
  %true : bool = prim::Constant[value=1]()
  %start : Tensor = aten::sigmoid(%x)
  %out : Tensor = prim::Loop(%trips, %true, %start)
    block0(%i : int, %carried : Tensor):
      %written : Tensor = aten::relu_(%carried)
      -> (%true, %written)
  return (%out))");
}

TEST(FunctionalizeTensors, WriteToAPartWhoseTypeIsAskedForBecomesScatter) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %no : bool = prim::Constant[value=0]()
  %fresh : Tensor = aten::neg(%x)
  %row : Tensor = aten::select(%fresh, %zero, %one)
  %dtype : int = prim::dtype(%row)
  %cast : Tensor = aten::to(%y, %dtype, %no, %no)
  %written : Tensor = aten::sigmoid_(%row)
  return (%fresh, %cast))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %no : bool = prim::Constant[value=0]()
  %fresh : Tensor = aten::neg(%x)
  %row : Tensor = aten::select(%fresh, %zero, %one)
  %dtype : int = prim::dtype(%row)
  %cast : Tensor = aten::to(%y, %dtype, %no, %no)
  %part : Tensor = aten::sigmoid(%row)
  %whole : Tensor = aten::select_scatter(%fresh, %part, %zero, %one)
  return (%whole, %cast))");
}

TEST(FunctionalizeTensors, WriteToAPartThatIsReadStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %fresh : Tensor = aten::neg(%x)
  %row : Tensor = aten::select(%fresh, %zero, %one)
  %written : Tensor = aten::sigmoid_(%row)
  %read : Tensor = aten::exp(%row)
  return (%fresh, %read))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
