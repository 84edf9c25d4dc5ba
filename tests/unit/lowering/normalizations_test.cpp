// Forms of operators that become one.
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(NormalizeCasts, TypeAsBecomesWhatTellsThatItMayBeItsOperand) {
  expectPass("normalize_casts", R"(
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
  expectUnchanged("normalize_casts", R"(
graph(%x : Tensor, %y : Tensor):
  %sizes : Tensor = aten::expand_as(%x, %y)
  %out : Tensor = aten::view_as(%sizes, %y)
  return (%out))");
}

TEST(NormalizeConvolution, GeneralFormBecomesTheNamedOne) {
  expectPass("normalize_convolution", R"(
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
  expectPass("normalize_convolution", R"(
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
  expectPass("normalize_convolution", convolutionWithPadding("3, 5", "same"), R"(
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
  expectUnchanged("normalize_convolution", convolutionWithPadding("2, 3", "same"));
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
  expectPass("normalize_linear", addmm("1"), R"(
graph(%x : Tensor):
  %w : Float(4, 8) = prim::Constant[value=<Tensor>]()
  %b : Float(8) = prim::Constant[value=<Tensor>]()
  %beta : int = prim::Constant[value=1]()
  %alpha : int = prim::Constant[value=1]()
  %t : Tensor = aten::t(%w)
  %out : Tensor = aten::linear(%x, %t, %b)
  return (%out))");
  expectUnchanged("normalize_linear", addmm("2"));
}

TEST(NormalizeLinear, TwoInARowAreTwoLinears) {
  const std::string head = R"(
graph(%x : Tensor):
  %w : Float(8, 8) = prim::Constant[value=<Tensor>]()
  %b : Float(8) = prim::Constant[value=<Tensor>]()
  %one : int = prim::Constant[value=1]())";
  expectPass("normalize_linear", head + R"(
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

std::string productPlus(const std::string& between, const std::string& bias_shape,
                        const std::string& bias_dtype = "Float") {
  return R"(
graph(%x : Tensor):
  %w : Float(4, 8) = prim::Constant[value=<Tensor>]()
  %b : )" +
         bias_dtype + "(" + bias_shape + R"() = prim::Constant[value=<Tensor>]()
  %one : int = prim::Constant[value=1]()
  %product : Tensor = aten::matmul(%x, %w))" +
         between + R"(
  %out : Tensor = aten::add(%product, %b, %one)
  return (%out))";
}

TEST(NormalizeLinear, ProductPlusVectorBecomesLinear) {
  expectPass("normalize_linear", productPlus("", "8"), R"(
graph(%x : Tensor):
  %w : Float(4, 8) = prim::Constant[value=<Tensor>]()
  %b : Float(8) = prim::Constant[value=<Tensor>]()
  %one : int = prim::Constant[value=1]()
  %t : Tensor = aten::t(%w)
  %out : Tensor = aten::linear(%x, %t, %b)
  return (%out))");
}

TEST(NormalizeLinear, ABiasThatBroadcastsStays) {
  expectUnchanged("normalize_linear", productPlus("", "1"));
}

// Their sum is of the wider dtype, which linear does not give. (The parser asks strides and device of all but Float.)
TEST(NormalizeLinear, ABiasOfAnotherDtypeStays) {
  expectUnchanged("normalize_linear", productPlus("", "8, strides=[1], device=cpu", "Double"));
}

TEST(NormalizeLinear, AWriteBetweenProductAndSumStays) {
  expectUnchanged("normalize_linear", productPlus("\n  %written : Tensor = aten::relu_(%x)", "8"));
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
  expectPass("normalize_batch_norm", head + "0" + norm, head + R"(0]()
  %no : bool = prim::Constant[value=0]()
  %out : Tensor = aten::batch_norm(%x, %w, %b, %mean, %var, %no, %momentum, %eps, %no)
  return (%out))");
  expectUnchanged("normalize_batch_norm", head + "1" + norm);
}

TEST(NormalizeViews, ViewOfASizeBecomesReshape) {
  expectPass("normalize_views", R"(
graph(%x : Tensor, %size : int[]):
  %out : Tensor = aten::view(%x, %size)
  return (%out))",
             R"(
graph(%x : Tensor, %size : int[]):
  %out : Tensor = aten::reshape(%x, %size)
  return (%out))");
  expectUnchanged("normalize_views", R"(
graph(%x : Tensor, %y : Tensor):
  %out : Tensor = aten::view_as(%x, %y)
  return (%out))");
  // A value that is written to is never a copy.
  expectUnchanged("normalize_views", R"(
graph(%x : Tensor, %size : int[]):
  %view : Tensor = aten::view(%x, %size)
  %out : Tensor = aten::relu_(%view)
  return (%out))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
