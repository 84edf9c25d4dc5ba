// Lists and tuples that are made right before what reads them, and those that stay where they are.
#include <gtest/gtest.h>

#include <string>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(SinkConstructions, ListIsMadeAfterTheWriteToWhatItHolds) {
  expectPass("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %t : Tensor = aten::relu(%x)
  %list : Tensor[] = prim::ListConstruct(%t)
  %written : Tensor = aten::mul_(%t, %y)
  return (%list))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %t : Tensor = aten::relu(%x)
  %written : Tensor = aten::mul_(%t, %y)
  %list : Tensor[] = prim::ListConstruct(%t)
  return (%list))");
}

TEST(SinkConstructions, DictionaryIsMadeAfterTheWriteToWhatItHolds) {
  expectPass("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %key : str = prim::Constant[value="key"]()
  %t : Tensor = aten::relu(%x)
  %dict : Dict(str, Tensor) = prim::DictConstruct(%key, %t)
  %written : Tensor = aten::mul_(%t, %y)
  return (%dict))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %key : str = prim::Constant[value="key"]()
  %t : Tensor = aten::relu(%x)
  %written : Tensor = aten::mul_(%t, %y)
  %dict : Dict(str, Tensor) = prim::DictConstruct(%key, %t)
  return (%dict))");
}

TEST(SinkConstructions, WhatAListHoldsSinksBeforeIt) {
  expectPass("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %t : Tensor = aten::relu(%x)
  %pair : (Tensor, Tensor) = prim::TupleConstruct(%t, %y)
  %list : (Tensor, Tensor)[] = prim::ListConstruct(%pair)
  %written : Tensor = aten::mul_(%t, %y)
  return (%list))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %t : Tensor = aten::relu(%x)
  %written : Tensor = aten::mul_(%t, %y)
  %pair : (Tensor, Tensor) = prim::TupleConstruct(%t, %y)
  %list : (Tensor, Tensor)[] = prim::ListConstruct(%pair)
  return (%list))");
}

TEST(SinkConstructions, EveryReaderOfAListGetsOneOfItsOwn) {
  expectPass("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %t : Tensor = aten::relu(%x)
  %list : Tensor[] = prim::ListConstruct(%t)
  %before : Tensor = aten::cat(%list, %one)
  %written : Tensor = aten::mul_(%t, %y)
  return (%before, %list))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %t : Tensor = aten::relu(%x)
  %own : Tensor[] = prim::ListConstruct(%t)
  %before : Tensor = aten::cat(%own, %one)
  %written : Tensor = aten::mul_(%t, %y)
  %list : Tensor[] = prim::ListConstruct(%t)
  return (%before, %list))");
}

TEST(SinkConstructions, WhatTakesAnElementOutGetsAListOfItsOwn) {
  expectPass("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %t : Tensor = aten::relu(%x)
  %list : Tensor[] = prim::ListConstruct(%t)
  %element : Tensor = aten::__getitem__(%list, %zero)
  %written : Tensor = aten::mul_(%t, %y)
  return (%element, %list))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %zero : int = prim::Constant[value=0]()
  %t : Tensor = aten::relu(%x)
  %own : Tensor[] = prim::ListConstruct(%t)
  %element : Tensor = aten::__getitem__(%own, %zero)
  %written : Tensor = aten::mul_(%t, %y)
  %list : Tensor[] = prim::ListConstruct(%t)
  return (%element, %list))");
}

TEST(SinkConstructions, ReaderInABranchGetsOneThere) {
  expectPass("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor, %c : bool):
  %one : int = prim::Constant[value=1]()
  %t : Tensor = aten::relu(%x)
  %list : Tensor[] = prim::ListConstruct(%t)
  %joined : Tensor = prim::If(%c)
    block0():
      %written : Tensor = aten::mul_(%t, %y)
      %inner : Tensor = aten::cat(%list, %one)
      -> (%inner)
    block1():
      -> (%y)
  %all : Tensor = aten::cat(%list, %one)
  return (%joined, %all))",
             R"(
graph(%x : Tensor, %y : Tensor, %c : bool):
  %one : int = prim::Constant[value=1]()
  %t : Tensor = aten::relu(%x)
  %joined : Tensor = prim::If(%c)
    block0():
      %written : Tensor = aten::mul_(%t, %y)
      %own : Tensor[] = prim::ListConstruct(%t)
      %inner : Tensor = aten::cat(%own, %one)
      -> (%inner)
    block1():
      -> (%y)
  %list : Tensor[] = prim::ListConstruct(%t)
  %all : Tensor = aten::cat(%list, %one)
  return (%joined, %all))");
}

TEST(SinkConstructions, ListThatIsWrittenStaysOneForAllItsReaders) {
  expectUnchanged("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%x)
  %before : Tensor = aten::cat(%list, %one)
  %longer : Tensor[] = aten::append(%list, %y)
  %after : Tensor = aten::cat(%list, %one)
  return (%before, %after, %list))");
}

TEST(SinkConstructions, ListThatABranchHandsOnStaysOneForAllItsReaders) {
  expectUnchanged("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor, %c : bool):
  %one : int = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%x)
  %other : Tensor[] = prim::ListConstruct(%y)
  %either : Tensor[] = prim::If(%c)
    block0():
      -> (%list)
    block1():
      -> (%other)
  %longer : Tensor[] = aten::append(%either, %y)
  %out : Tensor = aten::cat(%list, %one)
  return (%out))");
}

TEST(SinkConstructions, ListThatAnotherHoldsStaysOneForAllItsReaders) {
  expectUnchanged("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %list : Tensor[] = prim::ListConstruct(%x)
  %outer : Tensor[][] = prim::ListConstruct(%list)
  %inner : Tensor[] = aten::__getitem__(%outer, %one)
  %longer : Tensor[] = aten::append(%inner, %y)
  %out : Tensor = aten::cat(%list, %one)
  return (%out))");
}

TEST(SinkConstructions, WhoAsksWhetherItIsTheSameGetsTheSame) {
  for (const std::string type : {"Tensor[] = prim::ListConstruct", "(Tensor) = prim::TupleConstruct"}) {
    expectUnchanged("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %written : Tensor = aten::mul_(%x, %y)
  %held : )" + type + R"((%x)
  %same : bool = aten::__is__(%held, %held)
  return (%same, %held))");
  }
}

TEST(SinkConstructions, ListThatIsGivenTwiceStaysOne) {
  expectUnchanged("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %written : Tensor = aten::mul_(%x, %y)
  %list : Tensor[] = prim::ListConstruct(%x)
  return (%list, %list))");
}

TEST(SinkConstructions, NothingMovesWhereNothingIsWritten) {
  expectUnchanged("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %list : Tensor[] = prim::ListConstruct(%x)
  %sum : Tensor = aten::mul(%x, %y)
  return (%list, %sum))");
}

TEST(SinkConstructions, NumbersStayWhereTheyAre) {
  expectUnchanged("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor, %n : int):
  %shape : int[] = prim::ListConstruct(%n, %n)
  %written : Tensor = aten::mul_(%x, %y)
  %out : Tensor = aten::reshape(%x, %shape)
  return (%out))");
}

TEST(SinkConstructions, TwoBeforeOneReaderStayInOrder) {
  expectUnchanged("sink_constructions", R"(
graph(%x : Tensor, %y : Tensor):
  %written : Tensor = aten::mul_(%x, %y)
  %one : Tensor[] = prim::ListConstruct(%x)
  %two : Tensor[] = prim::ListConstruct(%y)
  return (%one, %two))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
