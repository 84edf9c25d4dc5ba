#include "kernels/work.h"

#include <gtest/gtest.h>

#include <string>

#include "cpu/machine.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels {
namespace {

// Returns the work of a problem as logs print it, for the shape to tune for.
Work workOf(const std::string& line) {
  const ParsedProblem parsed = parseProblem(line);
  std::vector<bool> present;
  for (const Operand& input : parsed.problem.inputs) {
    present.push_back(input.present);
  }
  return workOf(parsed.problem.family, *parsed.problem.attributes, tunedShapes(parsed.problem), present);
}

void expectWork(const std::string& line, double flops, double bytes) {
  const Work work = workOf(line);
  EXPECT_EQ(work.flops, flops) << line;
  EXPECT_EQ(work.bytes, bytes) << line;
}

TEST(Work, OfConvolutionsCountsTheChannelsOfAGroup) {
  const std::string attributes = "dilation=[1, 1], post_padding=[0, 0], pre_padding=[0, 0], stride=[1, 1]";
  expectWork("convolution float32 [1,8,6,6]x[4,8,3,3]!xnull -> [1,4,4,4] {groups=1, " + attributes + "}",
             2.0 * 4 * 4 * 4 * 8 * 9, 4.0 * (8 * 36 + 4 * 8 * 9 + 4 * 16));
  expectWork("convolution float32 [1,8,6,6]x[4,2,3,3]!x[4] -> [1,4,4,4] {groups=4, " + attributes + "}",
             2.0 * 4 * 4 * 4 * 2 * 9, 4.0 * (8 * 36 + 4 * 2 * 9 + 4 + 4 * 16));
}

TEST(Work, OfDeconvolutionsCountsFromTheInput) {
  expectWork(
      "deconvolution float32 [1,8,5,5]x[8,6,3,3]!xnull -> [1,6,11,11] {dilation=[1, 1], groups=1, output_padding=[0, "
      "0], post_padding=[0, 0], pre_padding=[0, 0], stride=[2, 2]}",
      2.0 * 8 * 25 * 6 * 9, 4.0 * (8 * 25 + 8 * 6 * 9 + 6 * 121));
}

TEST(Work, OfProductsTakesTheDepthWhereverItStands) {
  expectWork("matrix_multiply float32 [2,3,5]x[2,5,7] -> [2,3,7] {}", 2.0 * 2 * 3 * 7 * 5, 4.0 * 2 * (15 + 35 + 21));
  expectWork("matrix_multiply float32 [5,3]x[5,7] -> [3,7] {transpose_a=true}", 2.0 * 3 * 7 * 5, 4.0 * (15 + 35 + 21));
}

TEST(Work, OfStepsIsTheSameInAQuarterOfTheBytes) {
  const std::string after =
      "high=127, low=-127, output_scale=1.0, output_zero_point=0, residual_scale=1.0, residual_zero_point=0, to=int8, "
      "zero_point=3";
  expectWork(
      "quantized_convolution uint8 [1,8,6,6]xint8 [4,2,3,3]!xfloat32 [4]xnull -> int8 [1,4,4,4] {dilation=[1, "
      "1], groups=4, post_padding=[0, 0], pre_padding=[0, 0], stride=[1, 1], " +
          after + "}",
      2.0 * 4 * 4 * 4 * 2 * 9, 8 * 36 + 4 * 2 * 9 + 4 * 4 + 4 * 16);
  expectWork("quantized_matrix_multiply uint8 [2,3,5]xint8 [5,7]xfloat32 [7] -> int8 [2,3,7] {" + after + "}",
             2.0 * 2 * 3 * 7 * 5, 30 + 35 + 28 + 42);
  expectWork(
      "integer_weight_matrix_multiply float32 [2,3,8]xuint8 [7,4]xfloat32 [7,2] -> [2,3,7] {bits=4, group_size=4}",
      2.0 * 2 * 3 * 7 * 8, 4 * 48 + 28 + 4 * 14 + 4 * 42);
  expectWork("quantize float32 [4,5] -> int8 [4,5] {high=127, low=-127, scale=1.0, to=int8, zero_point=0}", 20, 100);
}

TEST(Work, OfOtherLayersIsAnOperationPerElement) {
  expectWork("unary float16 [4,5] -> [4,5] {op=\"exp\"}", 20, 2.0 * 2 * 20);
  expectWork("unary float32 [0,5] -> [0,5] {op=\"exp\"}", 0, 0);
}

TEST(Work, OfLayersThatPickReadsWhatIsPicked) {
  expectWork("gather float32 [1000,4]xint64 [3] -> float32 [3,4] {axis=0, mode=\"default\"}", 12, 48 + 48 + 24);
}

std::string factorsOf(const std::string& line) {
  const ParsedProblem parsed = parseProblem(line);
  std::vector<bool> present;
  for (const Operand& input : parsed.problem.inputs) {
    present.push_back(input.present);
  }
  return std::string(
      workOf(parsed.problem.family, *parsed.problem.attributes, tunedShapes(parsed.problem), present).factors);
}

TEST(Work, FactorsAreTheDtypesThatTensorCoresMultiply) {
  EXPECT_EQ(factorsOf("matrix_multiply float16 [2,3,5]x[2,5,7] -> [2,3,7] {}"), "float16");
  EXPECT_EQ(factorsOf("matrix_multiply bfloat16 [2,3,5]x[2,5,7] -> [2,3,7] {}"), "bfloat16");
  EXPECT_EQ(factorsOf("matrix_multiply float32 [2,3,5]x[2,5,7] -> [2,3,7] {tf32=true}"), "tf32");
  EXPECT_EQ(factorsOf("matrix_multiply float32 [2,3,5]x[2,5,7] -> [2,3,7] {}"), "");
  EXPECT_EQ(factorsOf("matrix_multiply float64 [2,3,5]x[2,5,7] -> [2,3,7] {}"), "");
  EXPECT_EQ(factorsOf("unary float16 [4,5] -> [4,5] {op=\"exp\"}"), "");
}

TEST(Limits, AreWhatSomeMachineHas) {
  const Limits limits = measureLimits(1);
  EXPECT_GT(limits.flops, 1e8);
  EXPECT_LT(limits.flops, 1e13);
  EXPECT_GT(limits.bytes, 1e8);
  EXPECT_LT(limits.bytes, 1e13);
}

}  // namespace
}  // namespace torchtrt::kernels
