// Attention whose mask or causality a run decides.
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(BranchOnAttentionArguments, MaskAndCausalityThatARunDecidesMakeFourNodes) {
  expectPass("branch_on_attention_arguments", R"(
graph(%q : Tensor, %mask : Tensor?, %causal : bool):
  %p : float = prim::Constant[value=0.]()
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %out : Tensor = aten::scaled_dot_product_attention(%q, %q, %q, %mask, %p, %causal, %none, %no)
  return (%out))",
             R"(
graph(%0 : Tensor,
      %1 : Tensor?,
      %2 : bool):
  %3 : float = prim::Constant[value=0.]()
  %4 : NoneType = prim::Constant()
  %5 : bool = prim::Constant[value=0]()
  %6 : bool = prim::Constant[value=0]()
  %7 : bool = prim::Constant[value=1]()
  %8 : NoneType = prim::Constant()
  %9 : bool = aten::__is__(%1, %8)
  %10 : Tensor = prim::If(%9)
    block0():
      %11 : Tensor = prim::If(%2)
        block0():
          %12 : Tensor = aten::scaled_dot_product_attention(%0, %0, %0, %8, %3, %7, %4, %5)
          -> (%12)
        block1():
          %13 : Tensor = aten::scaled_dot_product_attention(%0, %0, %0, %8, %3, %6, %4, %5)
          -> (%13)
      -> (%11)
    block1():
      %14 : Tensor = prim::unchecked_cast(%1)
      %15 : Tensor = prim::If(%2)
        block0():
          %16 : Tensor = aten::scaled_dot_product_attention(%0, %0, %0, %14, %3, %7, %4, %5)
          -> (%16)
        block1():
          %17 : Tensor = aten::scaled_dot_product_attention(%0, %0, %0, %14, %3, %6, %4, %5)
          -> (%17)
      -> (%15)
  return (%10))");
}

TEST(BranchOnAttentionArguments, KnownArgumentsStay) {
  expectUnchanged("branch_on_attention_arguments", R"(
graph(%q : Tensor, %mask : Tensor):
  %p : float = prim::Constant[value=0.]()
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %yes : bool = prim::Constant[value=1]()
  %a : Tensor = aten::scaled_dot_product_attention(%q, %q, %q, %mask, %p, %no, %none, %no)
  %b : Tensor = aten::scaled_dot_product_attention(%q, %q, %q, %none, %p, %yes, %none, %no)
  return (%a, %b))");
}

TEST(BranchOnAttentionArguments, FusedLayersAndHeadsAreKnownWithoutAMask) {
  expectPass("branch_on_attention_arguments", R"(
graph(%q : Tensor, %w : Tensor, %mask : Tensor?, %given : Tensor, %kind : int?):
  %p : float = prim::Constant[value=0.5]()
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %heads : int = prim::Constant[value=4]()
  %size : int = prim::Constant[value=32]()
  %yes : bool = prim::Constant[value=1]()
  %a : Tensor = aten::_transformer_encoder_layer_fwd(%q, %size, %heads, %w, %w, %w, %w, %no, %no, %p, %w, %w, %w, %w, %w, %w, %w, %w, %mask, %kind)
  %b : Tensor, %c : Tensor = aten::_native_multi_head_attention(%q, %q, %q, %size, %heads, %w, %w, %w, %w, %mask, %yes, %no, %kind)
  return (%a, %b, %c))",
             R"(
graph(%0 : Tensor,
      %1 : Tensor,
      %2 : Tensor?,
      %3 : Tensor,
      %4 : int?):
  %5 : float = prim::Constant[value=0.5]()
  %6 : NoneType = prim::Constant()
  %7 : bool = prim::Constant[value=0]()
  %8 : int = prim::Constant[value=4]()
  %9 : int = prim::Constant[value=32]()
  %10 : bool = prim::Constant[value=1]()
  %11 : bool = prim::Constant[value=1]()
  %12 : NoneType = prim::Constant()
  %13 : bool = aten::__isnot__(%2, %12)
  %14 : bool, %15 : Tensor? = prim::If(%13)
    block0():
      %16 : Tensor = prim::unchecked_cast(%2)
      -> (%11, %16)
    block1():
      %17 : bool = prim::is_nested(%0)
      -> (%17, %2)
  %18 : Tensor = prim::If(%14)
    block0():
      %19 : Tensor = aten::_transformer_encoder_layer_fwd(%0, %9, %8, %1, %1, %1, %1, %7, %7, %5, %1, %1, %1, %1, %1, %1, %1, %1, %15, %4)
      -> (%19)
    block1():
      %20 : Tensor = aten::_transformer_encoder_layer_fwd(%0, %9, %8, %1, %1, %1, %1, %7, %7, %5, %1, %1, %1, %1, %1, %1, %1, %1, %12, %12)
      -> (%20)
  %21 : bool = prim::Constant[value=1]()
  %22 : NoneType = prim::Constant()
  %23 : bool = aten::__isnot__(%2, %22)
  %24 : bool, %25 : Tensor? = prim::If(%23)
    block0():
      %26 : Tensor = prim::unchecked_cast(%2)
      -> (%21, %26)
    block1():
      %27 : bool = prim::is_nested(%0)
      -> (%27, %2)
  %28 : Tensor, %29 : Tensor = prim::If(%24)
    block0():
      %30 : Tensor, %31 : Tensor = aten::_native_multi_head_attention(%0, %0, %0, %9, %8, %1, %1, %1, %1, %25, %10, %7, %4)
      -> (%30, %31)
    block1():
      %32 : Tensor, %33 : Tensor = aten::_native_multi_head_attention(%0, %0, %0, %9, %8, %1, %1, %1, %1, %22, %10, %7, %22)
      -> (%32, %33)
  %34 : (Tensor, Tensor) = prim::TupleConstruct(%28, %29)
  %35 : Tensor, %36 : Tensor = prim::TupleUnpack(%34)
  return (%18, %35, %36))");
}

TEST(BranchOnAttentionArguments, FusedOnesWithAMaskOrWithoutResultsStay) {
  expectUnchanged("branch_on_attention_arguments", R"(
graph(%q : Tensor, %w : Tensor, %mask : Tensor?, %given : Tensor, %kind : int?):
  %p : float = prim::Constant[value=0.5]()
  %none : NoneType = prim::Constant()
  %no : bool = prim::Constant[value=0]()
  %heads : int = prim::Constant[value=4]()
  %size : int = prim::Constant[value=32]()
  %a : Tensor = aten::_transformer_encoder_layer_fwd(%q, %size, %heads, %w, %w, %w, %w, %no, %no, %p, %w, %w, %w, %w, %w, %w, %w, %w, %given, %kind)
  %b : Tensor = aten::_transformer_encoder_layer_fwd(%q, %size, %heads, %w, %w, %w, %w, %no, %no, %p, %w, %w, %w, %w, %w, %w, %w, %w, %none, %none)
  %c : Tensor, %d : Tensor = aten::_native_multi_head_attention(%q, %q, %q, %size, %heads, %w, %w, %w, %w, %mask, %no, %no, %kind)
  return (%a, %b, %c, %d))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
