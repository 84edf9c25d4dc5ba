// Products of steps against the reference: ours in every bit, oneDNN's within a step.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cpu_fast/compare.h"
#include "cpu_fast/convolution_problem.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels {
namespace {

// The operands beside the shapes of a float32 convolution or matrix product.
struct Steps {
  const char* input = "uint8";
  int zero_point = 131;
  const char* residual = "uint8";
  const char* to = "uint8";
  int output_zero_point = 97;
  int low = 0;
  int high = 255;
  double output_scale = 0;  // 0: one that fits the depth
};

constexpr Steps kSymmetric = {.input = "int8",
                              .zero_point = 0,
                              .residual = "int8",
                              .to = "int8",
                              .output_zero_point = 0,
                              .low = -127,
                              .high = 127};
constexpr Steps kToFloat = {.input = "uint8", .zero_point = 7, .residual = "float32", .to = "float32"};

// Scales under which random steps of a product this deep fill the range of its results.
std::string attributes(const Steps& steps, int64_t depth) {
  std::string text = "zero_point=" + std::to_string(steps.zero_point) + ", to=" + steps.to;
  const double scale = 65.3 * std::sqrt(static_cast<double>(depth));
  text += ", residual_scale=" + std::to_string(0.7 * scale) + ", residual_zero_point=3";
  if (steps.to != std::string("float32")) {
    text += ", output_scale=" + std::to_string(steps.output_scale == 0 ? scale : steps.output_scale);
    text += ", output_zero_point=" + std::to_string(steps.output_zero_point);
    text += ", low=" + std::to_string(steps.low) + ", high=" + std::to_string(steps.high);
  }
  return text;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from << " in " << text;
  text.replace(at, from.size(), to);
}

// "... float32 Ax B!xBIAS[xRESIDUAL] -> OUT {...}" of a family, in steps.
std::string inSteps(std::string text, const Steps& steps, int64_t columns, int64_t depth, bool residual) {
  replace(text, " float32 ", " " + std::string(steps.input) + " ");
  text = "quantized_" + text;
  replace(text, "x[", "xint8 [");
  replace(text, "!x", "!xfloat32 [" + std::to_string(columns) + "]!x");
  if (residual) {
    const size_t at = text.rfind("x[", text.find(" -> "));
    text.replace(at, 2, "x" + std::string(steps.residual) + " [");
  }
  replace(text, " -> ", " -> " + std::string(steps.to) + " ");
  const bool separated = text.ends_with("{}") || text.ends_with(", }");
  text.replace(text.size() - 1, 1, (separated ? "" : ", ") + attributes(steps, depth) + "}");
  return text;
}

std::string convolution(const Convolution& c, const Steps& steps = {}) {
  int64_t depth = 1;
  for (size_t i = 1; i < c.kernel.size(); ++i) {
    depth *= c.kernel[i];
  }
  return inSteps(toText(c), steps, c.kernel[0], depth, c.residual);
}

struct Matmul {
  std::vector<int64_t> batch;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  bool bias = true;
  bool residual = false;
  std::string activation = "";
};

std::string matmul(const Matmul& m, const Steps& steps = {}) {
  std::string outer;
  for (const int64_t size : m.batch) {
    outer += std::to_string(size) + ",";
  }
  const auto shape = [&](int64_t columns) {
    return "[" + outer + std::to_string(m.rows) + "," + std::to_string(columns) + "]";
  };
  const std::string columns = "[" + std::to_string(m.columns) + "]";
  std::string text = "matrix_multiply float32 " + shape(m.depth) + "x[" + std::to_string(m.depth) + "," +
                     std::to_string(m.columns) + "]!x" + (m.bias ? columns : "null");
  text += (m.residual ? "x" + shape(m.columns) : "") + " -> " + shape(m.columns) + " {" + m.activation + "}";
  return inSteps(text, steps, m.columns, m.depth, m.residual);
}

CompareOptions exactly() {
  return {.rtol = 0, .atol = 0};
}

void checkExactly(const std::string& problem, const char* implementation = "integer_gemm") {
  expectMatchesReference(problem, implementation, exactly());
}

TEST(Quantized, Convolutions) {
  for (const Steps& steps : {Steps{}, kSymmetric, kToFloat}) {
    checkExactly(convolution({.input = {1, 64, 9, 11}, .kernel = {48, 64, 1, 1}}, steps));
    checkExactly(convolution(
        {.input = {2, 16, 9, 7}, .kernel = {33, 16, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 0}}, steps));
    checkExactly(convolution({.input = {1, 3, 21, 19},
                              .kernel = {24, 3, 7, 7},
                              .stride = {2, 2},
                              .pre_padding = {3, 3},
                              .post_padding = {3, 3}},
                             steps));
    checkExactly(convolution({.input = {2, 5, 8, 9}, .kernel = {7, 5, 1, 1}, .stride = {2, 2}, .bias = false}, steps));
    checkExactly(
        convolution({.input = {1, 24, 10, 9}, .kernel = {32, 6, 3, 3}, .dilation = {2, 1}, .groups = 4}, steps));
  }
}

TEST(Quantized, Winograd) {
  for (const Steps& steps : {Steps{}, kSymmetric, kToFloat}) {
    for (const int64_t size : {3, 7, 8, 21, 26}) {  // from 21 on by tiles of 4x4
      checkExactly(convolution({.input = {1, 32, size, size + 1},
                                .kernel = {45, 32, 3, 3},
                                .pre_padding = {1, 1},
                                .post_padding = {1, 1},
                                .residual = true,
                                .activation = "activation=\"relu\", "},
                               steps),
                   "winograd");
    }
    checkExactly(convolution({.input = {3, 64, 6, 5}, .kernel = {16, 64, 3, 3}, .bias = false}, steps), "winograd");
    checkExactly(
        convolution(
            {.input = {2, 96, 19, 22}, .kernel = {130, 96, 3, 3}, .pre_padding = {2, 0}, .post_padding = {0, 3}},
            steps),
        "winograd");
  }
  expectRefused(convolution({.input = {1, 16, 6, 6}, .kernel = {16, 16, 3, 3}}), "winograd", "channels");
  expectRefused(convolution({.input = {1, 32, 6, 6}, .kernel = {16, 32, 3, 3}, .stride = {2, 2}}), "winograd",
                "kernel");
  expectRefused(convolution({.input = {1, 32, 4, 4}, .kernel = {16, 32, 3, 3}}), "winograd", "slower");
}

// Weights of the largest magnitude: up to 112 channels fit tiles of 4x4, up to 1842 those of 2x2.
TEST(Quantized, WinogradOfTheLargestSteps) {
  CompareOptions options = exactly();
  options.values = Values::kLargest;
  for (const Steps& steps :
       {Steps{.zero_point = 0, .to = "float32"}, Steps{.input = "int8", .zero_point = 127, .to = "float32"}}) {
    for (const int64_t channels : {96, 128, 1824}) {
      const int64_t size = channels > 1000 ? 4 : 21;
      expectMatchesReference(convolution({.input = {1, channels, size, size},
                                          .kernel = {8, channels, 3, 3},
                                          .pre_padding = {1, 1},
                                          .post_padding = {1, 1}},
                                         steps),
                             "winograd", options);
    }
  }
  expectRefused(convolution({.input = {1, 2048, 6, 6}, .kernel = {8, 2048, 3, 3}}, {.zero_point = 0}), "winograd",
                "large-sums", Values::kLargest);
}

TEST(Quantized, ConvolutionsOfOtherRanks) {
  checkExactly(
      convolution({.input = {2, 20, 30}, .kernel = {17, 20, 3}, .input_order = "@021", .output_order = "@021"}));
  checkExactly(convolution({.input = {1, 8, 4, 5, 6},
                            .kernel = {16, 8, 2, 3, 3},
                            .pre_padding = {1, 1, 0},
                            .post_padding = {0, 1, 1},
                            .input_order = "@02341",
                            .output_order = "@02341"}));
}

TEST(Quantized, RowMajorInputs) {
  for (const Steps& steps : {Steps{}, kSymmetric}) {
    checkExactly(convolution({.input = {2, 3, 12, 13},
                              .kernel = {16, 3, 5, 3},
                              .pre_padding = {2, 1},
                              .post_padding = {2, 1},
                              .input_order = ""},
                             steps));
  }
  expectRefused(convolution({.input = {1, 8, 6, 6}, .kernel = {16, 8, 3, 3}, .output_order = ""}), "integer_gemm",
                "memory-order");
}

TEST(Quantized, NarrowGroupsAreRefused) {
  expectRefused(convolution({.input = {1, 16, 6, 6}, .kernel = {16, 1, 3, 3}, .groups = 16}), "integer_gemm",
                "narrow-groups");
}

TEST(Quantized, Epilogues) {
  for (const char* residual : {"float32", "int8", "uint8"}) {
    for (const char* to : {"float32", "int8", "uint8"}) {
      Steps steps = {.residual = residual, .to = to};
      if (to == std::string("int8")) {
        steps = {.residual = residual, .to = to, .output_zero_point = -5, .low = -128, .high = 100};
      }
      for (const char* activation :
           {"", "activation=\"relu\", ", "activation=\"clip\", activation_alpha=-40.5, activation_beta=900.25, "}) {
        for (const bool bias : {false, true}) {
          checkExactly(convolution({.input = {1, 10, 5, 5},
                                    .kernel = {21, 10, 1, 1},
                                    .bias = bias,
                                    .residual = true,
                                    .activation = activation},
                                   steps));
        }
      }
    }
  }
}

// Vector functions round in their own way.
TEST(Quantized, OtherActivationsAreWithinAStep) {
  for (const char* name : {"gelu_erf", "silu", "hard_swish"}) {
    const std::string activation = "activation=\"" + std::string(name) + "\", ";
    expectMatchesReference(matmul({.batch = {}, .rows = 9, .depth = 40, .columns = 19, .activation = activation}),
                           "integer_gemm", {.steps = 1});
    expectMatchesReference(
        matmul({.batch = {}, .rows = 9, .depth = 40, .columns = 19, .activation = activation}, kToFloat),
        "integer_gemm");
  }
}

TEST(Quantized, MatrixProducts) {
  for (const Steps& steps : {Steps{}, kSymmetric, kToFloat}) {
    for (const int64_t rows : {1, 2, 5, 6, 7, 13, 75, 150}) {
      checkExactly(matmul({.batch = {}, .rows = rows, .depth = 37, .columns = 29, .residual = rows % 2 == 0}, steps));
    }
    checkExactly(matmul({.batch = {2, 3}, .rows = 4, .depth = 64, .columns = 100, .bias = false}, steps));
    checkExactly(matmul({.batch = {3}, .rows = 1, .depth = 1, .columns = 1}, steps));
  }
}

TEST(Quantized, DeepProductsAreSummedInParts) {
  for (const int64_t depth : {767, 769, 1536, 2051, 4608}) {
    checkExactly(matmul({.batch = {}, .rows = 75, .depth = depth, .columns = 70}));
  }
  checkExactly(convolution({.input = {1, 200, 6, 6},
                            .kernel = {40, 200, 3, 3},
                            .stride = {2, 2},
                            .pre_padding = {1, 1},
                            .post_padding = {1, 1}}));
}

TEST(Quantized, SumsOfTheLargestStepsAreExact) {
  CompareOptions options = exactly();
  options.values = Values::kLargest;
  const Steps steps = {.zero_point = 0, .to = "float32"};
  expectMatchesReference(matmul({.batch = {}, .rows = 7, .depth = 4608, .columns = 40}, steps), "integer_gemm",
                         options);
  expectMatchesReference(
      convolution({.input = {1, 512, 5, 5}, .kernel = {32, 512, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}},
                  steps),
      "integer_gemm", options);
  const Steps lowest = {.input = "int8", .zero_point = 127, .to = "float32"};
  expectMatchesReference(matmul({.batch = {}, .rows = 7, .depth = 4608, .columns = 40}, lowest), "integer_gemm",
                         options);
}

TEST(Quantized, OtherShapesRunOnTheSamePackedKernel) {
  CompareOptions options = exactly();
  for (const std::vector<int64_t>& input : {std::vector<int64_t>{3, 16, 7, 9}, {1, 16, 3, 3}, {0, 16, 9, 9}}) {
    options.shapes.push_back(convolution({.input = input, .kernel = {24, 16, 3, 3}}));
  }
  expectMatchesReference(convolution({.input = {1, 16, 20, 20}, .kernel = {24, 16, 3, 3}, .dynamic = true}),
                         "integer_gemm", options);
}

TEST(Quantized, SafeForThreads) {
  expectSafeForThreads(matmul({.batch = {}, .rows = 150, .depth = 900, .columns = 200}), "integer_gemm");
  expectSafeForThreads(convolution({.input = {1, 32, 30, 30}, .kernel = {64, 32, 3, 3}}), "integer_gemm");
}

class QuantizedTiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const Chosen chosen =
        createKernel(parseProblem(convolution({.input = {1, 64, 9, 9}, .kernel = {64, 64, 1, 1}})).problem, "tiles");
    for (const auto& [name, refusal] : chosen.refusals) {
      if (name == "tiles" && refusal.code == "instructions") {
        GTEST_SKIP() << name << " " << refusal.reason;
      }
    }
  }
  static void check(const Convolution& c, const Steps& steps = {}) {
    checkExactly(convolution(c, steps), "tiles");
  }
};

TEST_F(QuantizedTiles, Convolutions) {
  for (const Steps& steps : {Steps{}, kSymmetric, kToFloat}) {
    for (const bool residual : {false, true}) {
      check({.input = {2, 64, 9, 11}, .kernel = {48, 64, 1, 1}, .residual = residual}, steps);
      check({.input = {2, 30, 9, 11}, .kernel = {33, 30, 1, 1}, .residual = residual}, steps);
      check({.input = {2, 64, 19, 17},
             .kernel = {33, 64, 3, 3},
             .pre_padding = {1, 1},
             .post_padding = {1, 0},
             .residual = residual,
             .activation = "activation=\"relu\", "},
            steps);
    }
    check({.input = {1, 128, 11, 9},
           .kernel = {70, 128, 3, 3},
           .stride = {2, 2},
           .pre_padding = {1, 1},
           .post_padding = {1, 1}},
          steps);
    check({.input = {1, 3, 41, 39},
           .kernel = {24, 3, 7, 7},
           .stride = {2, 2},
           .pre_padding = {3, 3},
           .post_padding = {3, 3},
           .bias = false},
          steps);
    check({.input = {2, 32, 19, 21}, .kernel = {40, 32, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}}, steps);
  }
}

TEST_F(QuantizedTiles, SumsOfTheLargestStepsAreExact) {
  CompareOptions options = exactly();
  options.values = Values::kLargest;
  for (const Steps& steps : {Steps{.zero_point = 0, .to = "float32"}, Steps{.zero_point = 255, .to = "float32"},
                             Steps{.input = "int8", .zero_point = 127, .to = "float32"}}) {
    expectMatchesReference(
        convolution({.input = {1, 512, 5, 5}, .kernel = {32, 512, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}},
                    steps),
        "tiles", options);
  }
}

TEST_F(QuantizedTiles, Epilogues) {
  for (const char* residual : {"float32", "int8", "uint8"}) {
    for (const char* to : {"float32", "int8", "uint8"}) {
      for (const char* activation :
           {"", "activation=\"relu\", ", "activation=\"clip\", activation_alpha=-40.5, activation_beta=900.25, "}) {
        check({.input = {1, 64, 5, 5}, .kernel = {21, 64, 3, 3}, .residual = true, .activation = activation},
              {.residual = residual, .to = to, .output_zero_point = -5, .low = 0, .high = 100});
      }
    }
  }
}

TEST_F(QuantizedTiles, SafeForThreads) {
  expectSafeForThreads(convolution({.input = {1, 64, 30, 30}, .kernel = {64, 64, 3, 3}}), "tiles");
}

class QuantizedOneDnn : public ::testing::Test {
 protected:
  void SetUp() override {
    const Chosen chosen =
        createKernel(parseProblem(matmul({.batch = {}, .rows = 64, .depth = 64, .columns = 64})).problem, "onednn");
    for (const auto& [name, refusal] : chosen.refusals) {
      if (name == "onednn" && (refusal.code == "instructions" || refusal.code == "not-built")) {
        GTEST_SKIP() << name << " " << refusal.reason;
      }
    }
  }
  static void check(const std::string& problem, Values values = Values::kExact) {
    // Summands may be a hundred times as large as what clip leaves of their sum.
    const double atol = problem.find("\"clip\"") == std::string::npos ? 1e-6 : 1e-4;
    expectMatchesReference(problem, "onednn", {.values = values, .atol = atol, .steps = 1});
  }
  // Under a scale that is a power of two all is exact, and some results lie in the middle of two steps.
  static void checkTies(const std::string& problem) {
    expectMatchesReference(problem, "onednn", exactly());
  }
};

TEST_F(QuantizedOneDnn, Convolutions) {
  for (const Steps& steps : {Steps{}, kSymmetric, kToFloat}) {
    for (const bool residual : {false, true}) {
      check(convolution({.input = {1, 64, 19, 21}, .kernel = {48, 64, 1, 1}, .residual = residual}, steps));
      check(convolution({.input = {2, 16, 19, 17},
                         .kernel = {33, 16, 3, 3},
                         .pre_padding = {1, 1},
                         .post_padding = {1, 0},
                         .residual = residual,
                         .activation = "activation=\"relu\", "},
                        steps));
    }
    check(convolution({.input = {1, 3, 41, 39},
                       .kernel = {24, 3, 7, 7},
                       .stride = {2, 2},
                       .pre_padding = {3, 3},
                       .post_padding = {3, 3},
                       .bias = false},
                      steps));
    check(convolution({.input = {1, 64, 20, 20}, .kernel = {64, 16, 3, 3}, .groups = 4}, steps));
  }
}

TEST_F(QuantizedOneDnn, Epilogues) {
  for (const char* residual : {"float32", "int8", "uint8"}) {
    for (const char* activation :
         {"", "activation=\"relu\", ", "activation=\"hard_swish\", ", "activation=\"gelu_erf\", ",
          "activation=\"clip\", activation_alpha=-40.5, activation_beta=900.25, "}) {
      for (const Steps& steps : {Steps{.residual = residual}, Steps{.residual = residual, .low = 90, .high = 140},
                                 Steps{.residual = residual, .to = "float32"}}) {
        check(matmul({.batch = {}, .rows = 70, .depth = 64, .columns = 80, .residual = true, .activation = activation},
                     steps));
      }
    }
  }
}

TEST_F(QuantizedOneDnn, MatrixProducts) {
  for (const Steps& steps : {Steps{}, kSymmetric, kToFloat}) {
    check(matmul({.batch = {2, 3}, .rows = 40, .depth = 64, .columns = 100, .bias = false}, steps));
    check(matmul({.batch = {}, .rows = 128, .depth = 769, .columns = 131}, steps));
  }
  check(matmul({.batch = {}, .rows = 70, .depth = 4608, .columns = 40}, {.zero_point = 0, .to = "float32"}),
        Values::kLargest);
}

TEST_F(QuantizedOneDnn, TiesGoWhereTheReferenceSendsThem) {
  for (const Steps& steps :
       {Steps{.output_zero_point = 0, .output_scale = 512}, Steps{.output_zero_point = 96, .output_scale = 512},
        Steps{.output_zero_point = 97, .output_scale = 512},
        Steps{.to = "int8", .output_zero_point = -3, .low = -127, .high = 127, .output_scale = 512},
        Steps{.to = "int8", .output_zero_point = 5, .low = -128, .high = 127, .output_scale = 512}}) {
    for (const char* activation : {"", "activation=\"relu\", "}) {
      checkTies(convolution({.input = {1, 64, 40, 41}, .kernel = {64, 64, 1, 1}, .activation = activation}, steps));
      checkTies(convolution({.input = {2, 16, 40, 41},
                             .kernel = {32, 4, 3, 2},
                             .pre_padding = {2, 1},
                             .groups = 4,
                             .activation = activation},
                            steps));
      checkTies(matmul({.batch = {}, .rows = 512, .depth = 64, .columns = 256, .activation = activation}, steps));
    }
  }
}

// Implementations of oneDNN for AMX wrote behind their memory for these, or gave other numbers.
TEST_F(QuantizedOneDnn, ZeroPointsInPaddingOfHeightAlone) {
  for (const Steps& steps :
       {Steps{.zero_point = 7, .output_scale = 512}, Steps{.input = "int8", .zero_point = -7, .output_scale = 512}}) {
    for (const int64_t before : {2, 1, 0}) {
      checkTies(convolution({.input = {1, 33, 2, 65},
                             .kernel = {66, 33, 3, 1},
                             .pre_padding = {before, 0},
                             .post_padding = {2 - before, 0}},
                            steps));
    }
    checkTies(convolution({.input = {1, 20, 20, 85},
                           .kernel = {5, 20, 3, 2},
                           .stride = {1, 2},
                           .pre_padding = {2, 0},
                           .post_padding = {0, 1}},
                          steps));
    checkTies(convolution(
        {.input = {1, 64, 20, 85}, .kernel = {48, 64, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}}, steps));
  }
}

TEST_F(QuantizedOneDnn, ThreeSpatialDims) {
  const auto check = [](Convolution c, const Steps& steps) {
    c.input_order = c.output_order = "@02341";
    checkTies(convolution(c, steps));
  };
  const Steps without = {.zero_point = 0, .output_scale = 512};
  const Steps with = {.input = "int8", .zero_point = 28, .output_scale = 512};
  check({.input = {1, 72, 1, 3, 31}, .kernel = {64, 72, 2, 1, 2}, .pre_padding = {1, 0, 0}}, with);
  check({.input = {1, 72, 3, 2, 50}, .kernel = {80, 72, 3, 1, 3}, .stride = {2, 2, 1}, .pre_padding = {2, 0, 2}}, with);
  check({.input = {2, 72, 9, 3, 31}, .kernel = {44, 72, 1, 3, 2}, .stride = {2, 1, 1}}, without);
  check({.input = {1, 80, 4, 1, 9}, .kernel = {10, 40, 1, 1, 1}, .stride = {1, 2, 1}, .groups = 2}, without);
}

// For more threads oneDNN chooses other implementations. Some read sums behind int8 weights, and one saturates.
TEST_F(QuantizedOneDnn, MoreThreadsThanWeightsWerePackedFor) {
  const Steps with = {.input = "int8", .zero_point = 22, .output_scale = 512};
  const Steps without = {.input = "int8", .zero_point = 0, .output_scale = 512};
  checkTies(convolution({.input = {2, 12, 1, 113}, .kernel = {36, 12, 1, 7}, .stride = {1, 2}, .post_padding = {0, 6}},
                        with));
  checkTies(convolution(
      {.input = {2, 17, 32, 24}, .kernel = {24, 17, 1, 2}, .dilation = {1, 2}, .activation = "activation=\"relu\", "},
      without));
  checkTies(convolution({.input = {2, 3, 58},
                         .kernel = {36, 3, 1},
                         .bias = false,
                         .activation = "activation=\"relu\", ",
                         .input_order = "@021",
                         .output_order = "@021"},
                        {.zero_point = 64, .output_zero_point = 69, .output_scale = 512}));
}

TEST_F(QuantizedOneDnn, OtherShapesRunOnTheSamePackedKernel) {
  CompareOptions options{.steps = 1};
  for (const std::vector<int64_t>& input : {std::vector<int64_t>{3, 32, 7, 9}, {1, 32, 3, 3}, {0, 32, 9, 9}}) {
    options.shapes.push_back(convolution({.input = input, .kernel = {32, 32, 3, 3}}));
  }
  expectMatchesReference(convolution({.input = {1, 32, 20, 20}, .kernel = {32, 32, 3, 3}, .dynamic = true}), "onednn",
                         options);
}

TEST_F(QuantizedOneDnn, SafeForThreads) {
  expectSafeForThreads(convolution({.input = {1, 32, 30, 30}, .kernel = {64, 32, 3, 3}}), "onednn");
}

}  // namespace
}  // namespace torchtrt::kernels
