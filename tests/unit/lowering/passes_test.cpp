// The other rewrites, each with what it changes and what it leaves alone.
#include <gtest/gtest.h>

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

TEST(NormalizeCasts, TypeAsBecomesWhatTellsThatItMayBeItsOperand) {
  expectPass("normalize-casts", R"(
graph(%x : Tensor, %y : Tensor):
  %out : Tensor = aten::type_as(%x, %y)
  return (%out))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %no : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %out : Tensor = aten::to(%x, %y, %no, %no, %none)
  return (%out))");
}

TEST(NormalizeCasts, OtherCastsStay) {
  expectUnchanged("normalize-casts", R"(
graph(%x : Tensor, %y : Tensor):
  %sizes : Tensor = aten::expand_as(%x, %y)
  %out : Tensor = aten::view_as(%sizes, %y)
  return (%out))");
}

TEST(BranchOnAttentionArguments, MaskAndCausalityThatARunDecidesMakeFourNodes) {
  expectPass("branch-on-attention-arguments", R"(
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
  expectUnchanged("branch-on-attention-arguments", R"(
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
  expectPass("branch-on-attention-arguments", R"(
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
  expectUnchanged("branch-on-attention-arguments", R"(
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

TEST(RemoveExceptions, DropsTheBranchThatRaises) {
  expectPass("remove-exceptions", kGuarded, R"(
graph(%x : Tensor):
  %four : int = prim::Constant[value=4]()
  %text : str = prim::Constant[value="expected 4 dimensions"]()
  %rank : int = aten::dim(%x)
  %wrong : bool = aten::ne(%rank, %four)
  %out : Tensor = aten::relu(%x)
  return (%out))");
}

TEST(RemoveExceptions, KeepsABranchOfWhichNoSideRaises) {
  expectUnchanged("remove-exceptions", R"(
graph(%x : Tensor, %condition : bool):
  %out : Tensor = prim::If(%condition)
    block0():
      %a : Tensor = aten::relu(%x)
      -> (%a)
    block1():
      -> (%x)
  return (%out))");
}

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

// Whether it is a view that is written to is decided by the layout that contiguous gives.
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

// einsum of one operand may be a view of it.
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

TEST(NormalizeConvolution, GeneralFormBecomesTheNamedOne) {
  expectPass("normalize-convolution", R"(
graph(%x : Tensor):
  %w : Float(6, 3, 3, 3) = prim::Constant[value=<Tensor>]()
  %none : NoneType = prim::Constant()
  %ones : int[] = prim::Constant[value=[1, 1]]()
  %zeros : int[] = prim::Constant[value=[0, 0]]()
  %no : bool = prim::Constant[value=0]()
  %groups : int = prim::Constant[value=1]()
  %out : Tensor = aten::_convolution(%x, %w, %none, %ones, %zeros, %ones, %no, %zeros, %groups, %no, %no, %no, %no)
  return (%out))",
             R"(
graph(%x : Tensor):
  %w : Float(6, 3, 3, 3) = prim::Constant[value=<Tensor>]()
  %none : NoneType = prim::Constant()
  %ones : int[] = prim::Constant[value=[1, 1]]()
  %zeros : int[] = prim::Constant[value=[0, 0]]()
  %no : bool = prim::Constant[value=0]()
  %groups : int = prim::Constant[value=1]()
  %out : Tensor = aten::conv2d(%x, %w, %none, %ones, %zeros, %ones, %groups)
  return (%out))");
}

TEST(NormalizeConvolution, TransposedFormKeepsItsOutputPadding) {
  expectPass("normalize-convolution", R"(
graph(%x : Tensor):
  %w : Float(3, 6, 4) = prim::Constant[value=<Tensor>]()
  %none : NoneType = prim::Constant()
  %stride : int[] = prim::Constant[value=[2]]()
  %padding : int[] = prim::Constant[value=[1]]()
  %dilation : int[] = prim::Constant[value=[3]]()
  %output_padding : int[] = prim::Constant[value=[0]]()
  %yes : bool = prim::Constant[value=1]()
  %groups : int = prim::Constant[value=1]()
  %out : Tensor = aten::convolution(%x, %w, %none, %stride, %padding, %dilation, %yes, %output_padding, %groups)
  return (%out))",
             R"(
graph(%x : Tensor):
  %w : Float(3, 6, 4) = prim::Constant[value=<Tensor>]()
  %none : NoneType = prim::Constant()
  %stride : int[] = prim::Constant[value=[2]]()
  %padding : int[] = prim::Constant[value=[1]]()
  %dilation : int[] = prim::Constant[value=[3]]()
  %output_padding : int[] = prim::Constant[value=[0]]()
  %yes : bool = prim::Constant[value=1]()
  %groups : int = prim::Constant[value=1]()
  %out : Tensor = aten::conv_transpose1d(%x, %w, %none, %stride, %padding, %output_padding, %groups, %dilation)
  return (%out))");
}

std::string convolutionWithPadding(const std::string& kernel, const std::string& padding) {
  return R"(
graph(%x : Tensor):
  %w : Float(6, 3, )" +
         kernel + R"() = prim::Constant[value=<Tensor>]()
  %none : NoneType = prim::Constant()
  %ones : int[] = prim::Constant[value=[1, 1]]()
  %named : str = prim::Constant[value=")" +
         padding + R"("]()
  %groups : int = prim::Constant[value=1]()
  %out : Tensor = aten::conv2d(%x, %w, %none, %ones, %named, %ones, %groups)
  return (%out))";
}

TEST(NormalizeConvolution, NamedPaddingBecomesNumbers) {
  expectPass("normalize-convolution", convolutionWithPadding("3, 5", "same"), R"(
graph(%x : Tensor):
  %w : Float(6, 3, 3, 5) = prim::Constant[value=<Tensor>]()
  %none : NoneType = prim::Constant()
  %ones : int[] = prim::Constant[value=[1, 1]]()
  %named : str = prim::Constant[value="same"]()
  %groups : int = prim::Constant[value=1]()
  %padding : int[] = prim::Constant[value=[1, 2]]()
  %out : Tensor = aten::conv2d(%x, %w, %none, %ones, %padding, %ones, %groups)
  return (%out))");
}

TEST(NormalizeConvolution, SameForAnEvenKernelStays) {
  expectUnchanged("normalize-convolution", convolutionWithPadding("2, 3", "same"));
}

std::string addmm(const std::string& beta) {
  return R"(
graph(%x : Tensor):
  %w : Float(4, 8) = prim::Constant[value=<Tensor>]()
  %b : Float(8) = prim::Constant[value=<Tensor>]()
  %beta : int = prim::Constant[value=)" +
         beta + R"(]()
  %alpha : int = prim::Constant[value=1]()
  %out : Tensor = aten::addmm(%b, %x, %w, %beta, %alpha)
  return (%out))";
}

TEST(NormalizeLinear, AddmmBecomesLinear) {
  expectPass("normalize-linear", addmm("1"), R"(
graph(%x : Tensor):
  %w : Float(4, 8) = prim::Constant[value=<Tensor>]()
  %b : Float(8) = prim::Constant[value=<Tensor>]()
  %beta : int = prim::Constant[value=1]()
  %alpha : int = prim::Constant[value=1]()
  %t : Tensor = aten::t(%w)
  %out : Tensor = aten::linear(%x, %t, %b)
  return (%out))");
  expectUnchanged("normalize-linear", addmm("2"));
}

TEST(NormalizeLinear, TwoInARowAreTwoLinears) {
  const std::string head = R"(
graph(%x : Tensor):
  %w : Float(8, 8) = prim::Constant[value=<Tensor>]()
  %b : Float(8) = prim::Constant[value=<Tensor>]()
  %one : int = prim::Constant[value=1]())";
  expectPass("normalize-linear", head + R"(
  %first : Tensor = aten::addmm(%b, %x, %w, %one, %one)
  %second : Tensor = aten::addmm(%b, %first, %w, %one, %one)
  return (%second))",
             head + R"(
  %t1 : Tensor = aten::t(%w)
  %first : Tensor = aten::linear(%x, %t1, %b)
  %t2 : Tensor = aten::t(%w)
  %second : Tensor = aten::linear(%first, %t2, %b)
  return (%second))");
}

std::string productPlus(const std::string& between, const std::string& bias_shape) {
  return R"(
graph(%x : Tensor):
  %w : Float(4, 8) = prim::Constant[value=<Tensor>]()
  %b : Float()" +
         bias_shape + R"() = prim::Constant[value=<Tensor>]()
  %one : int = prim::Constant[value=1]()
  %product : Tensor = aten::matmul(%x, %w))" +
         between + R"(
  %out : Tensor = aten::add(%product, %b, %one)
  return (%out))";
}

TEST(NormalizeLinear, ProductPlusVectorBecomesLinear) {
  expectPass("normalize-linear", productPlus("", "8"), R"(
graph(%x : Tensor):
  %w : Float(4, 8) = prim::Constant[value=<Tensor>]()
  %b : Float(8) = prim::Constant[value=<Tensor>]()
  %one : int = prim::Constant[value=1]()
  %t : Tensor = aten::t(%w)
  %out : Tensor = aten::linear(%x, %t, %b)
  return (%out))");
}

TEST(NormalizeLinear, ABiasThatBroadcastsStays) {
  expectUnchanged("normalize-linear", productPlus("", "1"));
}

TEST(NormalizeLinear, AWriteBetweenProductAndSumStays) {
  expectUnchanged("normalize-linear", productPlus("\n  %written : Tensor = aten::relu_(%x)", "8"));
}

TEST(NormalizeBatchNorm, InstanceNormWithRunningStatisticsIsBatchNorm) {
  const std::string head = R"(
graph(%x : Tensor, %w : Tensor, %b : Tensor, %mean : Tensor, %var : Tensor):
  %momentum : float = prim::Constant[value=0.1]()
  %eps : float = prim::Constant[value=0.001]()
  %cudnn : bool = prim::Constant[value=1]()
  %stats : bool = prim::Constant[value=)";
  const std::string norm = R"(]()
  %out : Tensor = aten::instance_norm(%x, %w, %b, %mean, %var, %stats, %momentum, %eps, %cudnn)
  return (%out))";
  expectPass("normalize-batch-norm", head + "0" + norm, head + R"(0]()
  %no : bool = prim::Constant[value=0]()
  %out : Tensor = aten::batch_norm(%x, %w, %b, %mean, %var, %no, %momentum, %eps, %no)
  return (%out))");
  expectUnchanged("normalize-batch-norm", head + "1" + norm);
}

TEST(NormalizeViews, ViewOfASizeBecomesReshape) {
  expectPass("normalize-views", R"(
graph(%x : Tensor, %size : int[]):
  %out : Tensor = aten::view(%x, %size)
  return (%out))",
             R"(
graph(%x : Tensor, %size : int[]):
  %out : Tensor = aten::reshape(%x, %size)
  return (%out))");
  expectUnchanged("normalize-views", R"(
graph(%x : Tensor, %y : Tensor):
  %out : Tensor = aten::view_as(%x, %y)
  return (%out))");
  // What is written to is never a copy.
  expectUnchanged("normalize-views", R"(
graph(%x : Tensor, %size : int[]):
  %view : Tensor = aten::view(%x, %size)
  %out : Tensor = aten::relu_(%view)
  return (%out))");
}

TEST(PoolConstants, EqualNumbersBecomeOneButNotOfAnotherType) {
  expectPass("pool-constants", R"(
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
  expectUnchanged("unroll-loops", R"(
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
      lower(parse(kGuarded), {.disabled_passes = {"remove-exceptions"}, .dump_after = "", .verify = true});
  EXPECT_NE(textOf(*lowered.graph).find("prim::RaiseException"), std::string::npos);
}

}  // namespace
}  // namespace torchtrt::lowering::testing
