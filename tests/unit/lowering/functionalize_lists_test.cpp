// Writes to lists that become the construction of the next list, and those that must stay.
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(FunctionalizeLists, AppendBecomesConstruction) {
  expectPass("functionalize_lists", R"(
graph(%a : Tensor, %b : Tensor):
  %one : int = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%a)
  %first : Tensor = aten::cat(%list, %one)
  %unused : Tensor[] = aten::append(%list, %b)
  %second : Tensor = aten::cat(%list, %one)
  return (%first, %second))",
             R"(
graph(%a : Tensor, %b : Tensor):
  %one : int = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%a)
  %first : Tensor = aten::cat(%list, %one)
  %longer : Tensor[] = prim::ListConstruct(%a, %b)
  %second : Tensor = aten::cat(%longer, %one)
  return (%first, %second))");
}

TEST(FunctionalizeLists, AppendToAListThatATupleHoldsStays) {
  expectUnchanged("functionalize_lists", R"(
graph(%a : Tensor, %b : Tensor):
  %list : Tensor[] = prim::ListConstruct(%a)
  %held : (Tensor[]) = prim::TupleConstruct(%list)
  %unused : Tensor[] = aten::append(%list, %b)
  return (%held))");
}

TEST(FunctionalizeLists, ItemInsertPopAndClearBecomeConstructions) {
  expectPass("functionalize_lists", R"(
graph(%a : Tensor, %b : Tensor):
  %last : int = prim::Constant[value=-1]()
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%a, %a)
  %set : Tensor[] = aten::_set_item(%list, %last, %b)
  aten::insert(%list, %zero, %b)
  %first : Tensor = aten::stack(%list, %zero)
  %popped : Tensor = aten::pop(%list, %last)
  %second : Tensor = aten::stack(%list, %zero)
  aten::clear(%list)
  %length : int = aten::len(%list)
  return (%first, %second, %popped, %length))",
             R"(
graph(%a : Tensor, %b : Tensor):
  %last : int = prim::Constant[value=-1]()
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%a, %a)
  %one : Tensor[] = prim::ListConstruct(%a, %b)
  %two : Tensor[] = prim::ListConstruct(%b, %a, %b)
  %first : Tensor = aten::stack(%two, %zero)
  %three : Tensor[] = prim::ListConstruct(%b, %a)
  %second : Tensor = aten::stack(%three, %zero)
  %four : Tensor[] = prim::ListConstruct()
  %length : int = aten::len(%four)
  return (%first, %second, %b, %length))");
}

TEST(FunctionalizeLists, ItemOfACopiedConstantBecomesConstruction) {
  expectPass("functionalize_lists", R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %shape : int[] = prim::Constant[value=[3, 4]]()
  %copy : int[] = aten::copy(%shape)
  %set : int[] = aten::_set_item(%copy, %zero, %zero)
  %out : Tensor = aten::roll(%x, %copy, %shape)
  return (%out))",
             R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %shape : int[] = prim::Constant[value=[3, 4]]()
  %three : int = prim::Constant[value=3]()
  %four : int = prim::Constant[value=4]()
  %copy : int[] = aten::copy(%shape)
  %written : int[] = prim::ListConstruct(%zero, %four)
  %out : Tensor = aten::roll(%x, %written, %shape)
  return (%out))");
}

TEST(FunctionalizeLists, ABranchGivesTheElementsThatItsSidesLeave) {
  expectPass("functionalize_lists", R"(
graph(%a : int, %b : int, %condition : bool):
  %zero : int = prim::Constant[value=0]()
  %list : int[] = prim::ListConstruct(%a, %b)
  prim::If(%condition)
    block0():
      %set : int[] = aten::_set_item(%list, %zero, %b)
      -> ()
    block1():
      -> ()
  %sum : int = aten::sum(%list)
  return (%sum))",
             R"(
graph(%a : int, %b : int, %condition : bool):
  %zero : int = prim::Constant[value=0]()
  %list : int[] = prim::ListConstruct(%a, %b)
  %first : int = prim::If(%condition)
    block0():
      %set : int[] = prim::ListConstruct(%b, %b)
      -> (%b)
    block1():
      -> (%a)
  %merged : int[] = prim::ListConstruct(%first, %b)
  %sum : int = aten::sum(%merged)
  return (%sum))");
}

TEST(FunctionalizeLists, ABranchThatAppendsGivesTheList) {
  expectPass("functionalize_lists", R"(
graph(%a : Tensor, %b : Tensor, %condition : bool):
  %list : Tensor[] = prim::ListConstruct(%a)
  prim::If(%condition)
    block0():
      %unused : Tensor[] = aten::append(%list, %b)
      -> ()
    block1():
      -> ()
  %unused : Tensor[] = aten::append(%list, %a)
  return (%list))",
             R"(
graph(%a : Tensor, %b : Tensor, %condition : bool):
  %list : Tensor[] = prim::ListConstruct(%a)
  %either : Tensor[] = prim::If(%condition)
    block0():
      %longer : Tensor[] = prim::ListConstruct(%a, %b)
      -> (%longer)
    block1():
      -> (%list)
  %one : Tensor[] = prim::ListConstruct(%a)
  %longest : Tensor[] = aten::add(%either, %one)
  return (%longest))");
}

TEST(FunctionalizeLists, ExtendByAListOfUnknownLengthConcatenates) {
  expectPass("functionalize_lists", R"(
graph(%a : Tensor, %more : Tensor[]):
  %list : Tensor[] = prim::ListConstruct(%a)
  aten::extend(%list, %more)
  return (%list))",
             R"(
graph(%a : Tensor, %more : Tensor[]):
  %list : Tensor[] = prim::ListConstruct(%a)
  %longer : Tensor[] = aten::add(%list, %more)
  return (%longer))");
}

// Their number may be any, and PyTorch would copy the list in each.
TEST(FunctionalizeLists, AppendInALoopWhoseTripsOnlyARunKnowsStays) {
  expectUnchanged("functionalize_lists", R"(
graph(%a : Tensor, %trips : int):
  %true : bool = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%a)
  prim::Loop(%trips, %true)
    block0(%i : int):
      %unused : Tensor[] = aten::append(%list, %a)
      -> (%true)
  return (%list))");
}

TEST(FunctionalizeLists, LoopsWhoseTripsSizesTellCarryTheList) {
  expectPass("functionalize_lists", R"(
graph(%a : Tensor):
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %trips : int = aten::size(%a, %zero)
  %list : Tensor[] = prim::ListConstruct()
  prim::Loop(%trips, %true)
    block0(%i : int):
      %row : Tensor = aten::select(%a, %zero, %i)
      %unused : Tensor[] = aten::append(%list, %row)
      -> (%true)
  return (%list))",
             R"(
graph(%a : Tensor):
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %trips : int = aten::size(%a, %zero)
  %list : Tensor[] = prim::ListConstruct()
  %last : Tensor[] = prim::Loop(%trips, %true, %list)
    block0(%i : int, %100 : Tensor[]):
      %row : Tensor = aten::select(%a, %zero, %i)
      %added : Tensor[] = prim::ListConstruct(%row)
      %longer : Tensor[] = aten::add(%100, %added)
      -> (%true, %longer)
  return (%last))");
}

TEST(FunctionalizeLists, LoopsCarryTheElementsOfAListThatKeepsItsLength) {
  expectPass("functionalize_lists", R"(
graph(%a : Tensor, %b : Tensor, %trips : int):
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%a, %b)
  prim::Loop(%trips, %true)
    block0(%i : int):
      %first : Tensor = aten::__getitem__(%list, %zero)
      %next : Tensor = aten::tanh(%first)
      %unused : Tensor[] = aten::_set_item(%list, %zero, %next)
      -> (%true)
  %sum : Tensor = aten::cat(%list, %zero)
  return (%sum))",
             R"(
graph(%a : Tensor, %b : Tensor, %trips : int):
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %list : Tensor[] = prim::ListConstruct(%a, %b)
  %last_a : Tensor, %last_b : Tensor = prim::Loop(%trips, %true, %a, %b)
    block0(%i : int, %100 : Tensor, %101 : Tensor):
      %carried : Tensor[] = prim::ListConstruct(%100, %101)
      %first : Tensor = aten::__getitem__(%carried, %zero)
      %next : Tensor = aten::tanh(%first)
      %changed : Tensor[] = prim::ListConstruct(%next, %101)
      -> (%true, %next, %101)
  %after : Tensor[] = prim::ListConstruct(%last_a, %last_b)
  %sum : Tensor = aten::cat(%after, %zero)
  return (%sum))");
}

// The next trip would change what the first one put away.
TEST(FunctionalizeLists, AListThatALoopKeepsAndWritesStays) {
  expectUnchanged("functionalize_lists", R"(
graph(%a : Tensor, %all : Tensor[][]):
  %true : bool = prim::Constant[value=1]()
  %zero : int = prim::Constant[value=0]()
  %trips : int = aten::size(%a, %zero)
  %list : Tensor[] = prim::ListConstruct(%a)
  prim::Loop(%trips, %true)
    block0(%i : int):
      %unused : Tensor[] = aten::append(%list, %a)
      %kept : Tensor[][] = aten::append(%all, %list)
      -> (%true)
  return (%all))");
}

TEST(FunctionalizeLists, WriteUnderAnotherNameStays) {
  expectUnchanged("functionalize_lists", R"(
graph(%a : Tensor, %b : Tensor, %condition : bool):
  %list : Tensor[] = prim::ListConstruct(%a)
  %other : Tensor[] = prim::ListConstruct(%b)
  %either : Tensor[] = prim::If(%condition)
    block0():
      -> (%list)
    block1():
      -> (%other)
  %one : Tensor[] = aten::append(%either, %b)
  %two : Tensor[] = aten::append(%list, %b)
  return (%list, %either))");
}

TEST(FunctionalizeLists, AnArgumentAndAPlaceThatIsNotKnownStay) {
  expectUnchanged("functionalize_lists", R"(
graph(%list : Tensor[], %a : Tensor, %place : int):
  %one : Tensor[] = aten::append(%list, %a)
  %own : Tensor[] = prim::ListConstruct(%a, %a)
  %two : Tensor[] = aten::_set_item(%own, %place, %a)
  return (%own))");
}

TEST(FunctionalizeLists, AListWithinAListThatIsWrittenThroughItStays) {
  expectUnchanged("functionalize_lists", R"(
graph(%a : Tensor):
  %zero : int = prim::Constant[value=0]()
  %inner : Tensor[] = prim::ListConstruct(%a)
  %one : Tensor[] = aten::append(%inner, %a)
  %outer : Tensor[][] = prim::ListConstruct(%inner)
  %taken : Tensor[] = aten::__getitem__(%outer, %zero)
  %two : Tensor[] = aten::append(%taken, %a)
  return (%inner))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
