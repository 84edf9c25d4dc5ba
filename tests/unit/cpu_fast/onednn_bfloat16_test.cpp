// Products of bfloat16 by oneDNN against the reference, where the machine has instructions for them. Exact values
// make sums exact in float32, so both round the same numbers.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"
#include "cpu_fast/convolution_problem.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels {
namespace {

constexpr const char* kName = "onednn_bfloat16";

class OneDnnBFloat16 : public ::testing::Test {
 protected:
  void SetUp() override {
    const Chosen chosen = createKernel(parseProblem(matmul("[64,64]x[64,64] -> [64,64] {}")).problem, kName);
    for (const auto& [name, refusal] : chosen.refusals) {
      if (name == kName) {
        ASSERT_TRUE(refusal.code == "instructions" || refusal.code == "not-built") << refusal.reason;
        GTEST_SKIP() << name << " " << refusal.reason;
      }
    }
  }
  static std::string matmul(const std::string& rest) {
    return "matrix_multiply bfloat16 " + rest;
  }
  static std::string convolution(Convolution convolution) {
    convolution.dtype = "bfloat16";
    return toText(convolution);
  }
};

TEST_F(OneDnnBFloat16, Convolution) {
  expectMatchesReference(convolution({.input = {1, 32, 19, 17},
                                      .kernel = {24, 32, 3, 3},
                                      .pre_padding = {1, 1},
                                      .post_padding = {1, 0},
                                      .activation = "activation=\"relu\", "}),
                         kName);
  expectMatchesReference(
      convolution({.input = {2, 33, 15, 17}, .kernel = {40, 33, 1, 1}, .bias = false, .residual = true}), kName);
  expectMatchesReference(
      convolution({.input = {1, 64, 57, 57}, .kernel = {64, 1, 3, 3}, .stride = {2, 2}, .groups = 64}), kName);
  expectMatchesReference(
      convolution({.input = {1, 32, 20, 20}, .kernel = {32, 8, 3, 3}, .dilation = {2, 2}, .groups = 4}), kName);
  expectMatchesReference(
      convolution({.input = {1, 17, 15, 15}, .kernel = {40, 17, 3, 3}, .input_order = "", .output_order = ""}), kName);
}

TEST_F(OneDnnBFloat16, ConvolutionWithScale) {
  for (const bool bias : {false, true}) {
    for (const bool residual : {false, true}) {
      for (const char* activation : {"", "activation=\"relu\", ", "activation=\"hard_swish\", "}) {
        expectMatchesReference(convolution({.input = {1, 32, 19, 17},
                                            .kernel = {24, 32, 3, 3},
                                            .bias = bias,
                                            .residual = residual,
                                            .scale = true,
                                            .activation = activation}),
                               kName);
      }
    }
  }
  expectMatchesReference(convolution({.input = {1, 64, 57, 57}, .kernel = {64, 1, 3, 3}, .groups = 64, .scale = true}),
                         kName);
}

TEST_F(OneDnnBFloat16, ConvolutionsOfOtherShapesRunOnTheSamePackedKernel) {
  const Convolution tuned = {.input = {1, 32, 20, 20}, .kernel = {32, 32, 3, 3}, .dynamic = true};
  CompareOptions options;
  for (const std::vector<int64_t>& input : {std::vector<int64_t>{3, 32, 7, 9}, {1, 32, 3, 3}, {0, 32, 9, 9}}) {
    options.shapes.push_back(convolution({.input = input, .kernel = {32, 32, 3, 3}}));
  }
  expectMatchesReference(convolution(tuned), kName, options);
}

TEST_F(OneDnnBFloat16, MatrixMultiply) {
  expectMatchesReference(matmul("[9,130]x[200,130]!x[200] -> [9,200] {activation=\"relu\", transpose_b=true}"), kName);
  expectMatchesReference(matmul("[3,30,33]x[3,33,20] -> [3,30,20] {}"), kName);
  expectMatchesReference(matmul("[33,40]x[33,60]!xnullx[40,60] -> [40,60] {transpose_a=true}"), kName);
  expectMatchesReference(matmul("[40,64]x[64,50]x[40,50] -> [40,50] {}"), kName);
  CompareOptions some_nan;
  some_nan.values = Values::kSomeNan;
  expectMatchesReference(matmul("[40,64]x[64,50] -> [40,50] {activation=\"relu\"}"), kName, some_nan);
}

TEST_F(OneDnnBFloat16, RowsOfManyDims) {
  const std::string activation = "{activation=\"relu\", transpose_b=true}";
  expectMatchesReference(matmul("[2,5,7,66]x[1,1,40,66]!x[40]x[2,5,7,40] -> [2,5,7,40] " + activation), kName);
  expectMatchesReference(matmul("[2,3,5,7,64]x[64,40]!x[1,1,1,40] -> [2,3,5,7,40] {}"), kName);
  expectMatchesReference(matmul("[7,64]x[1,1,64,40]! -> [1,1,7,40] {}"), kName);
  // No matrices alone: a residual that is repeated, a transposed a, and several b.
  expectMatchesReference(matmul("[2,5,7,64]x[64,40]!x[40]x[5,1,40] -> [2,5,7,40] {}"), kName);
  expectMatchesReference(matmul("[2,5,64,7]x[64,40]! -> [2,5,7,40] {transpose_a=true}"), kName);
  expectMatchesReference(matmul("[2,5,7,64]x[5,64,40]! -> [2,5,7,40] {}"), kName);
}

TEST_F(OneDnnBFloat16, ActivationsOnSumsThatAreNotRoundedYet) {
  CompareOptions options;
  options.rtol = 0x1p-7;  // a unit in the last place
  for (const char* activation : {"relu", "leaky_relu", "hard_swish", "silu", "gelu_erf", "gelu_tanh"}) {
    const std::string rest =
        "[40,64]x[64,50] -> [40,50] {activation=\"" + std::string(activation) + "\", activation_alpha=0.1}";
    for (const Values values : {Values::kExact, Values::kSomeNan}) {
      options.values = values;
      expectMatchesReference(matmul(rest), kName, options);
    }
  }
}

// The sum is rounded before it, as in PyTorch.
TEST_F(OneDnnBFloat16, ActivationsBehindAConvolution) {
  CompareOptions options;
  options.rtol = 0x1p-6;
  options.atol = 0x1p-6;  // of sums between -8 and 0, of which activations leave little
  for (const char* activation : {"silu", "clip", "sigmoid", "mish"}) {
    for (const Values values : {Values::kExact, Values::kSomeNan}) {
      options.values = values;
      expectMatchesReference(
          convolution({.input = {1, 32, 29, 29},
                       .kernel = {32, 32, 3, 3},
                       .activation = "activation=\"" + std::string(activation) + "\", activation_beta=6.0, "}),
          kName, options);
    }
  }
}

TEST_F(OneDnnBFloat16, ManyThreads) {
  expectSafeForThreads(matmul("[40,64]x[64,50]! -> [40,50] {}"), kName);
}

TEST_F(OneDnnBFloat16, RefusesWhatFloat32DoesBetter) {
  expectRefused(matmul("[4,30]x[30,70] -> [4,70] {}"), kName, "slower");
  expectRefused(matmul("[40,64]x[64,50] -> [40,50] {activation=\"mish\"}"), kName, "activation");
  expectRefused(matmul("[40,64]x[64,50]x[40,50]x[40,50] -> [40,50] {}"), kName, "bias-shape");
  expectRefused(convolution({.input = {1, 16, 9, 9}, .kernel = {16, 16, 3, 3}}), kName, "slower");
  expectRefused("matrix_multiply float32 [40,64]x[64,50] -> [40,50] {}", kName, "dtype");
}

}  // namespace
}  // namespace torchtrt::kernels
