// In-place operators on tensors that lists, dictionaries and loops hold or held: others may see the write.
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

// Values that went through lists are apart if those they were made from are.
TEST(FunctionalizeTensors, PiecesOfAnotherTensorDoNotMatter) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %a : Tensor = aten::sigmoid(%x)
  %b : Tensor = aten::exp(%x)
  %parts : Tensor[] = aten::split(%a, %two, %one)
  %p : Tensor, %q : Tensor = prim::ListUnpack(%parts)
  %written : Tensor = aten::relu_(%b)
  %others : Tensor[] = aten::split(%written, %two, %one)
  %r : Tensor, %s : Tensor = prim::ListUnpack(%others)
  %list : Tensor[] = prim::ListConstruct(%p, %q, %r, %s)
  %out : Tensor = aten::cat(%list, %one)
  return (%out))",
             R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %a : Tensor = aten::sigmoid(%x)
  %b : Tensor = aten::exp(%x)
  %parts : Tensor[] = aten::split(%a, %two, %one)
  %p : Tensor, %q : Tensor = prim::ListUnpack(%parts)
  %written : Tensor = aten::relu(%b)
  %others : Tensor[] = aten::split(%written, %two, %one)
  %r : Tensor, %s : Tensor = prim::ListUnpack(%others)
  %list : Tensor[] = prim::ListConstruct(%p, %q, %r, %s)
  %out : Tensor = aten::cat(%list, %one)
  return (%out))");
}

TEST(FunctionalizeTensors, PiecesOfTheSameTensorSeeTheWrite) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %a : Tensor = aten::sigmoid(%x)
  %parts : Tensor[] = aten::split(%a, %two, %one)
  %p : Tensor, %q : Tensor = prim::ListUnpack(%parts)
  %written : Tensor = aten::relu_(%a)
  %out : Tensor = aten::add(%p, %q, %one)
  return (%out, %written))");
}

TEST(FunctionalizeTensors, WhatAListIsGivenLaterMayBeThere) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %which : int):
  %a : Tensor = aten::sigmoid(%x)
  %b : Tensor = aten::exp(%x)
  %list : Tensor[] = prim::ListConstruct(%b)
  %longer : Tensor[] = aten::append(%list, %a)
  %written : Tensor = aten::relu_(%a)
  %out : Tensor = aten::__getitem__(%list, %which)
  return (%out, %written))");
}

TEST(FunctionalizeTensors, ElementsThatAListHandsOnAreThoseOfTheList) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %which : int):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %a : Tensor = aten::sigmoid(%x)
  %list : Tensor[] = prim::ListConstruct(%a, %x)
  %some : Tensor[] = aten::slice(%list, %zero, %one, %one)
  %first : Tensor = aten::__getitem__(%some, %which)
  %written : Tensor = aten::relu_(%a)
  %out : Tensor = aten::neg(%first)
  return (%out, %written))");
}

TEST(FunctionalizeTensors, WhatADictionaryHoldsMayBeAnything) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %zero : int = prim::Constant[value=0]()
  %key : str = prim::Constant[value="a"]()
  %a : Tensor = aten::sigmoid(%x)
  %dict : Dict(str, Tensor) = prim::DictConstruct(%key, %a)
  %values : Tensor[] = aten::values(%dict)
  %first : Tensor = aten::__getitem__(%values, %zero)
  %written : Tensor = aten::relu_(%a)
  %out : Tensor = aten::neg(%first)
  return (%out, %written))");
}

TEST(FunctionalizeTensors, WhatALoopCarriesMayBeAnything) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %trips : int):
  %yes : bool = prim::Constant[value=1]()
  %a : Tensor = aten::sigmoid(%x)
  %b : Tensor = aten::exp(%x)
  %c : Tensor = prim::Loop(%trips, %yes, %b)
    block0(%i : int, %carried : Tensor):
      %view : Tensor = aten::detach(%a)
      -> (%yes, %view)
  %written : Tensor = aten::relu_(%a)
  %out : Tensor = aten::neg(%c)
  return (%out, %written))");
}

TEST(FunctionalizeTensors, WhatIsPutIntoAListLaterIsFreshBefore) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor, %all : Tensor[]):
  %fresh : Tensor = aten::sigmoid(%x)
  %written : Tensor = aten::relu_(%fresh)
  %unused : Tensor[] = aten::append(%all, %written)
  %out : Tensor = aten::neg(%x)
  return (%out))",
             R"(
graph(%x : Tensor, %all : Tensor[]):
  %fresh : Tensor = aten::sigmoid(%x)
  %written : Tensor = aten::relu(%fresh)
  %unused : Tensor[] = aten::append(%all, %written)
  %out : Tensor = aten::neg(%x)
  return (%out))");
}

TEST(FunctionalizeTensors, PartsOfWhatIsPutIntoAListLaterAreWrittenBack) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor, %all : Tensor[]):
  %zero : int = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %part : Tensor = aten::select(%fresh, %zero, %zero)
  %written : Tensor = aten::relu_(%part)
  %unused : Tensor[] = aten::append(%all, %fresh)
  %out : Tensor = aten::neg(%x)
  return (%out))",
             R"(
graph(%x : Tensor, %all : Tensor[]):
  %zero : int = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %part : Tensor = aten::select(%fresh, %zero, %zero)
  %written : Tensor = aten::relu(%part)
  %whole : Tensor = aten::select_scatter(%fresh, %written, %zero, %zero)
  %unused : Tensor[] = aten::append(%all, %whole)
  %out : Tensor = aten::neg(%x)
  return (%out))");
}

TEST(FunctionalizeTensors, WhatWasPutIntoAListBeforeStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %all : Tensor[]):
  %zero : int = prim::Constant[value=0]()
  %fresh : Tensor = aten::sigmoid(%x)
  %unused : Tensor[] = aten::append(%all, %fresh)
  %written : Tensor = aten::relu_(%fresh)
  %out : Tensor = aten::__getitem__(%all, %zero)
  return (%out))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
