// lower_quantized: what becomes floats on centered integers, in which form, and what stays.
#include <gtest/gtest.h>

#include "lowering/ir_text.h"

namespace torchtrt::lowering::testing {
namespace {

TEST(LowerQuantized, QuantizingRoundsToCenteredIntegersAndDequantizingScalesThem) {
  expectPass("lower_quantized", R"(
graph(%x : Tensor):
  %scale : float = prim::Constant[value=0.25]()
  %zero : int = prim::Constant[value=10]()
  %quint8 : int = prim::Constant[value=13]()
  %q : Tensor = aten::quantize_per_tensor(%x, %scale, %zero, %quint8)
  %out : Tensor = aten::dequantize(%q)
  return (%out))",
             R"(
graph(%x : Tensor):
  %scale : float = prim::Constant[value=0.25]()
  %zero : int = prim::Constant[value=10]()
  %quint8 : int = prim::Constant[value=13]()
  %inverse : float = prim::Constant[value=4.]()
  %steps : Tensor = aten::mul(%x, %inverse)
  %nan : float = prim::Constant[value=245.]()
  %above : NoneType = prim::Constant()
  %below : NoneType = prim::Constant()
  %numbers : Tensor = aten::nan_to_num(%steps, %nan, %above, %below)
  %rounded : Tensor = aten::round(%numbers)
  %low : int = prim::Constant[value=-10]()
  %high : int = prim::Constant[value=245]()
  %integers : Tensor = aten::clamp(%rounded, %low, %high)
  %step : float = prim::Constant[value=0.25]()
  %out : Tensor = aten::mul(%integers, %step)
  return (%out))");
}

TEST(LowerQuantized, ATableThatClampsIsAClamp) {
  expectPass("lower_quantized", R"(
graph(%x : Tensor):
  %scale : float = prim::Constant[value=0.5]()
  %zero : int = prim::Constant[value=-28]()
  %qint8 : int = prim::Constant[value=12]()
  %q : Tensor = aten::quantize_per_tensor(%x, %scale, %zero, %qint8)
  %positive : Tensor = aten::relu(%q)
  %size : int[] = aten::size(%positive)
  %out : Tensor = aten::dequantize(%positive)
  return (%out, %size))",
             R"(
graph(%x : Tensor):
  %scale : float = prim::Constant[value=0.5]()
  %zero : int = prim::Constant[value=-28]()
  %qint8 : int = prim::Constant[value=12]()
  %inverse : float = prim::Constant[value=2.]()
  %steps : Tensor = aten::mul(%x, %inverse)
  %nan : float = prim::Constant[value=155.]()
  %above : NoneType = prim::Constant()
  %below : NoneType = prim::Constant()
  %numbers : Tensor = aten::nan_to_num(%steps, %nan, %above, %below)
  %rounded : Tensor = aten::round(%numbers)
  %low : int = prim::Constant[value=-100]()
  %high : int = prim::Constant[value=155]()
  %integers : Tensor = aten::clamp(%rounded, %low, %high)
  %least : int = prim::Constant[value=0]()
  %most : int = prim::Constant[value=155]()
  %positive : Tensor = aten::clamp(%integers, %least, %most)
  %size : int[] = aten::size(%positive)
  %step : float = prim::Constant[value=0.5]()
  %out : Tensor = aten::mul(%positive, %step)
  return (%out, %size))");
}

TEST(LowerQuantized, AProductIsRequantized) {
  expectPass("lower_quantized", R"(
graph(%x : Tensor, %y : Tensor):
  %scale : float = prim::Constant[value=0.5]()
  %zero : int = prim::Constant[value=0]()
  %quint8 : int = prim::Constant[value=13]()
  %three : int = prim::Constant[value=3]()
  %a : Tensor = aten::quantize_per_tensor(%x, %scale, %zero, %quint8)
  %b : Tensor = aten::quantize_per_tensor(%y, %scale, %zero, %quint8)
  %c : Tensor = quantized::mul_relu(%a, %b, %scale, %three)
  %out : Tensor = aten::dequantize(%c)
  return (%out))",
             R"(
graph(%x : Tensor, %y : Tensor):
  %scale : float = prim::Constant[value=0.5]()
  %zero : int = prim::Constant[value=0]()
  %quint8 : int = prim::Constant[value=13]()
  %three : int = prim::Constant[value=3]()
  %1 : float = prim::Constant[value=2.]()
  %2 : Tensor = aten::mul(%x, %1)
  %3 : float = prim::Constant[value=255.]()
  %4 : NoneType = prim::Constant()
  %9 : NoneType = prim::Constant()
  %5 : Tensor = aten::nan_to_num(%2, %3, %4, %9)
  %6 : Tensor = aten::round(%5)
  %7 : int = prim::Constant[value=0]()
  %8 : int = prim::Constant[value=255]()
  %a : Tensor = aten::clamp(%6, %7, %8)
  %11 : float = prim::Constant[value=2.]()
  %12 : Tensor = aten::mul(%y, %11)
  %13 : float = prim::Constant[value=255.]()
  %14 : NoneType = prim::Constant()
  %19 : NoneType = prim::Constant()
  %15 : Tensor = aten::nan_to_num(%12, %13, %14, %19)
  %16 : Tensor = aten::round(%15)
  %17 : int = prim::Constant[value=0]()
  %18 : int = prim::Constant[value=255]()
  %b : Tensor = aten::clamp(%16, %17, %18)
  %product : Tensor = aten::mul(%a, %b)
  %factor : float = prim::Constant[value=0.5]()
  %steps : Tensor = aten::mul(%product, %factor)
  %rounded : Tensor = aten::round(%steps)
  %least : int = prim::Constant[value=0]()
  %most : int = prim::Constant[value=252]()
  %c : Tensor = aten::clamp(%rounded, %least, %most)
  %step : float = prim::Constant[value=0.5]()
  %out : Tensor = aten::mul(%c, %step)
  return (%out))");
}

TEST(LowerQuantized, ARegionThatGivesAQuantizedTensorStaysWhole) {
  expectUnchanged("lower_quantized", R"(
graph(%x : Tensor):
  %scale : float = prim::Constant[value=0.25]()
  %zero : int = prim::Constant[value=10]()
  %quint8 : int = prim::Constant[value=13]()
  %q : Tensor = aten::quantize_per_tensor(%x, %scale, %zero, %quint8)
  %positive : Tensor = aten::relu(%q)
  %out : Tensor = aten::dequantize(%positive)
  return (%out, %positive))");
}

TEST(LowerQuantized, ARegionWithAnOperatorThatIsNotExactStaysWhole) {
  expectUnchanged("lower_quantized", R"(
graph(%x : Tensor):
  %scale : float = prim::Constant[value=0.25]()
  %zero : int = prim::Constant[value=10]()
  %quint8 : int = prim::Constant[value=13]()
  %axes : int[] = prim::Constant[value=[2, 3]]()
  %no : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %q : Tensor = aten::quantize_per_tensor(%x, %scale, %zero, %quint8)
  %positive : Tensor = aten::relu(%q)
  %mean : Tensor = aten::mean(%positive, %axes, %no, %none)
  %out : Tensor = aten::dequantize(%mean)
  return (%out))");
}

TEST(LowerQuantized, OtherTypesAndQuantizationsThatARunDecidesStay) {
  expectUnchanged("lower_quantized", R"(
graph(%x : Tensor, %scale : float, %step : Tensor):
  %one : float = prim::Constant[value=1.]()
  %none : float = prim::Constant[value=0.]()
  %zero : int = prim::Constant[value=0]()
  %far : int = prim::Constant[value=256]()
  %quint8 : int = prim::Constant[value=13]()
  %qint32 : int = prim::Constant[value=14]()
  %a : Tensor = aten::quantize_per_tensor(%x, %scale, %zero, %quint8)
  %b : Tensor = aten::quantize_per_tensor(%x, %step, %step, %quint8)
  %c : Tensor = aten::quantize_per_tensor(%x, %one, %zero, %qint32)
  %d : Tensor = aten::quantize_per_tensor(%x, %one, %far, %quint8)
  %e : Tensor = aten::quantize_per_tensor(%x, %none, %zero, %quint8)
  %p : Tensor = aten::dequantize(%a)
  %q : Tensor = aten::dequantize(%b)
  %r : Tensor = aten::dequantize(%c)
  %s : Tensor = aten::dequantize(%d)
  %t : Tensor = aten::dequantize(%e)
  return (%p, %q, %r, %s, %t))");
}

TEST(LowerQuantized, AveragesOfWhatMayLieInRowsStay) {
  expectUnchanged("lower_quantized", R"(
graph(%x : Tensor):
  %scale : float = prim::Constant[value=0.25]()
  %zero : int = prim::Constant[value=10]()
  %quint8 : int = prim::Constant[value=13]()
  %one : int[] = prim::Constant[value=[1, 1]]()
  %q : Tensor = aten::quantize_per_tensor(%x, %scale, %zero, %quint8)
  %average : Tensor = aten::adaptive_avg_pool2d(%q, %one)
  %out : Tensor = aten::dequantize(%average)
  return (%out))");
}

}  // namespace
}  // namespace torchtrt::lowering::testing
