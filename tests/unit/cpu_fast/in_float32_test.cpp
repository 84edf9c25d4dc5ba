// Fast kernels on float16 and bfloat16 operands, against the reference. Exact values make sums exact in float32, so
// both round the same numbers.
#include "cpu/storage/in_float32.h"

#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"
#include "cpu_fast/convolution_problem.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels {
namespace {

class InFloat32Test : public ::testing::TestWithParam<const char*> {
 protected:
  // The line with this dtype where it says "half".
  static std::string problem(std::string line) {
    const std::string half = "half";
    return line.replace(line.find(half), half.size(), GetParam());
  }
  static CompareOptions closely(Values values) {
    CompareOptions options;
    options.values = values;
    options.rtol = std::string(GetParam()) == "float16" ? 0x1p-10 : 0x1p-7;  // a unit in the last place
    options.atol = 0;
    return options;
  }
};

TEST_P(InFloat32Test, Convolution) {
  const auto check = [](const char* implementation, Convolution convolution) {
    convolution.dtype = GetParam();
    expectMatchesReference(toText(convolution), implementation);
  };
  check("depthwise", {.input = {1, 40, 9, 7}, .kernel = {40, 1, 3, 3}, .groups = 40, .dynamic = true});
  check("packed_gemm",
        {.input = {2, 17, 9, 7}, .kernel = {24, 17, 1, 1}, .residual = true, .activation = "activation=\"relu\", "});
}

TEST_P(InFloat32Test, ConvolutionWithScale) {
  const auto check = [](const char* implementation, Convolution convolution) {
    convolution.dtype = GetParam();
    convolution.scale = true;
    expectMatchesReference(toText(convolution), implementation);
  };
  check("depthwise", {.input = {1, 40, 9, 7}, .kernel = {40, 1, 3, 3}, .groups = 40});
  check("packed_gemm",
        {.input = {2, 17, 9, 7}, .kernel = {24, 17, 1, 1}, .residual = true, .activation = "activation=\"relu\", "});
  check("packed_gemm", {.input = {2, 17, 9, 7}, .kernel = {24, 17, 1, 1}, .bias = false});
  Convolution computed = {.input = {2, 17, 9, 7}, .kernel = {24, 17, 1, 1}, .scale = true, .computed = true};
  computed.dtype = GetParam();
  EXPECT_EQ(createKernel(parseProblem(toText(computed)).problem).implementation, std::string("reference"));
  expectMatchesReference(toText(computed), "reference");
}

TEST_P(InFloat32Test, MatrixMultiply) {
  expectMatchesReference(
      problem("matrix_multiply half [5,33]x[20,33]!x[20]! -> [5,20] {activation=\"relu\", transpose_b=true}"),
      "packed_gemm");
  expectMatchesReference(problem("matrix_multiply half [0,33]x[20,33]! -> [0,20] {transpose_b=true}"), "packed_gemm");
#ifndef TORCHTRT_NO_ONEDNN
  expectMatchesReference(problem("matrix_multiply half [3,5,33]x[3,33,20] -> [3,5,20] {}"), "onednn");
#endif
}

TEST_P(InFloat32Test, SpecialValuesAndOtherDTypesOfResults) {
  expectMatchesReference(problem("softmax half [3,40] -> [3,40] {axis=1, log=false}"), "vectors",
                         closely(Values::kSmooth));
  expectMatchesReference(problem("reduce half [3,40] -> [3] {axes=[1], keep_dims=false, op=\"sum\"}"), "vectors");
}

TEST_P(InFloat32Test, OneKernelServesSeveralShapesAndThreads) {
  CompareOptions options;
  options.shapes = {problem("matrix_multiply half [7,33]x[20,33]! -> [7,20] {transpose_b=true}"),
                    problem("matrix_multiply half [1,33]x[20,33]! -> [1,20] {transpose_b=true}")};
  const std::string text = problem("matrix_multiply half [?3,33]x[20,33]! -> [?3,20] {transpose_b=true}");
  expectMatchesReference(text, "packed_gemm", options);
  expectSafeForThreads(text, "packed_gemm");
}

TEST_P(InFloat32Test, TheReferenceIsLeftAsItIs) {
  const ParsedProblem parsed = parseProblem(problem("activation half [3] -> [3] {op=\"relu\"}"));
  EXPECT_TRUE(InFloat32::applies(parsed.problem));
  EXPECT_TRUE(createKernel(parsed.problem, "reference").refusals.empty());
  EXPECT_FALSE(InFloat32::applies(parseProblem("activation float32 [3] -> [3] {op=\"relu\"}").problem));
}

TEST_P(InFloat32Test, RefusalsAreThoseOfTheFloat32Problem) {
  expectRefused(problem("matrix_multiply half [5,33]x[33,20] -> [5,20] {}"), "packed_gemm", "dynamic-weights");
}

INSTANTIATE_TEST_SUITE_P(DTypes, InFloat32Test, ::testing::Values("float16", "bfloat16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace torchtrt::kernels
