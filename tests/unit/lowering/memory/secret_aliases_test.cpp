// In-place operators where some operator may give its operand, which its schema keeps to itself: einsum, type_as, ...
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(FunctionalizeTensors, WhatMayBeItsOperandStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %all : Tensor[]):
  %fresh : Tensor = aten::type_as(%x, %x)
  %written : Tensor = aten::relu_(%fresh)
  %unused : Tensor[] = aten::append(%all, %written)
  %out : Tensor = aten::neg(%x)
  return (%out))");
}

// einsum of one operand may be a view of it, which no schema says.
TEST(FunctionalizeTensors, WhatAResultMayBeInSecretStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %turned : str = prim::Constant[value="ij->ji"]()
  %fresh : Tensor = aten::sigmoid(%x)
  %operands : Tensor[] = prim::ListConstruct(%fresh)
  %view : Tensor = aten::einsum(%turned, %operands, %none)
  %written : Tensor = aten::add_(%fresh, %one, %one)
  %out : Tensor = aten::neg(%view)
  return (%out))");
}

// The caller's tensor is written to if there is no trip.
TEST(FunctionalizeTensors, WhatMayBeAResultInSecretStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %turned : str = prim::Constant[value="ij->ji"]()
  %fresh : Tensor = aten::sigmoid(%x)
  %operands : Tensor[] = prim::ListConstruct(%fresh)
  %view : Tensor = aten::einsum(%turned, %operands, %none)
  %row : Tensor = aten::unsqueeze(%view, %one)
  %written : Tensor = aten::add_(%row, %one, %one)
  %out : Tensor = aten::neg(%fresh)
  return (%out))");
}

// Two secrets in a row.
TEST(FunctionalizeTensors, WhatAResultOfAResultMayBeStays) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %turned : str = prim::Constant[value="ij->ji"]()
  %fresh : Tensor = aten::sigmoid(%x)
  %operands : Tensor[] = prim::ListConstruct(%fresh)
  %view : Tensor = aten::einsum(%turned, %operands, %none)
  %views : Tensor[] = prim::ListConstruct(%view)
  %back : Tensor = aten::einsum(%turned, %views, %none)
  %written : Tensor = aten::add_(%back, %one, %one)
  %out : Tensor = aten::neg(%fresh)
  return (%out))");
}

TEST(FunctionalizeTensors, SecretsOfAnotherTensorDoNotMatter) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %turned : str = prim::Constant[value="ij->ji"]()
  %fresh : Tensor = aten::sigmoid(%x)
  %other : Tensor = aten::exp(%x)
  %operands : Tensor[] = prim::ListConstruct(%other)
  %view : Tensor = aten::einsum(%turned, %operands, %none)
  %written : Tensor = aten::add_(%fresh, %one, %one)
  %both : Tensor[] = prim::ListConstruct(%written, %view)
  %out : Tensor = aten::cat(%both, %one)
  return (%out))",
             R"(
graph(%x : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %turned : str = prim::Constant[value="ij->ji"]()
  %fresh : Tensor = aten::sigmoid(%x)
  %other : Tensor = aten::exp(%x)
  %operands : Tensor[] = prim::ListConstruct(%other)
  %view : Tensor = aten::einsum(%turned, %operands, %none)
  %written : Tensor = aten::add(%fresh, %one, %one)
  %both : Tensor[] = prim::ListConstruct(%written, %view)
  %out : Tensor = aten::cat(%both, %one)
  return (%out))");
}

// einsum multiplies two operands, so what it gives is its own.
TEST(FunctionalizeTensors, ProductOfTwoOperandsIsNeither) {
  expectPass("functionalize_tensors", R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %equation : str = prim::Constant[value="ij,jk->ik"]()
  %operands : Tensor[] = prim::ListConstruct(%x, %y)
  %product : Tensor = aten::einsum(%equation, %operands, %none)
  %written : Tensor = aten::add_(%product, %one, %one)
  return (%written))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %equation : str = prim::Constant[value="ij,jk->ik"]()
  %operands : Tensor[] = prim::ListConstruct(%x, %y)
  %product : Tensor = aten::einsum(%equation, %operands, %none)
  %written : Tensor = aten::add(%product, %one, %one)
  return (%written))");
}

TEST(FunctionalizeTensors, ProductOfAListThatIsWrittenMayBeAnOperand) {
  expectUnchanged("functionalize_tensors", R"(
graph(%x : Tensor, %y : Tensor):
  %one : int = prim::Constant[value=1]()
  %none : NoneType = prim::Constant()
  %turned : str = prim::Constant[value="ij->ji"]()
  %operands : Tensor[] = prim::ListConstruct(%x, %y)
  %last : Tensor = aten::pop(%operands, %one)
  %view : Tensor = aten::einsum(%turned, %operands, %none)
  %written : Tensor = aten::add_(%view, %one, %one)
  return (%written, %last))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
