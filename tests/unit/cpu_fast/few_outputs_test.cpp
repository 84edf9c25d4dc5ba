// Convolutions to few outputs against the reference.
#include <gtest/gtest.h>

#include <string>

#include "cpu/convolution/direct/few_outputs_row.h"
#include "cpu/simd/isa.h"
#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

class FewOutputsConvolution : public ::testing::Test {
 protected:
  void SetUp() override {
    isaCap();  // is applied when it is first asked for
    if (convolution::fewOutputsFunctions().lanes < convolution::kMostFewOutputs) {
      GTEST_SKIP() << "needs vectors of four floats";
    }
  }
};

TEST_F(FewOutputsConvolution, EveryTailOfChannelsAndColumns) {
  for (const int64_t outputs : {1, 2, 3, 4}) {
    for (const int64_t channels : {1, 3, 8, 16, 20, 33, 64}) {
      for (const int64_t width : {1, 2, 3, 4, 7, 8, 9, 23}) {
        check("few_outputs", {.input = {1, channels, 5, width},
                              .kernel = {outputs, channels, 3, 3},
                              .pre_padding = {1, 1},
                              .post_padding = {1, 1}});
      }
    }
  }
}

TEST_F(FewOutputsConvolution, StrideDilationPaddingAndRank) {
  for (const int64_t width : {9, 14, 15, 28}) {
    check("few_outputs", {.input = {2, 40, 15, width},
                          .kernel = {3, 40, 3, 3},
                          .stride = {2, 2},
                          .pre_padding = {1, 1},
                          .post_padding = {1, 1}});
  }
  check("few_outputs", {.input = {1, 24, 15, 17},
                        .kernel = {2, 24, 3, 5},
                        .pre_padding = {0, 3},
                        .post_padding = {2, 1},
                        .dilation = {2, 3},
                        .bias = false});
  check("few_outputs", {.input = {1, 20, 30},
                        .kernel = {1, 20, 7},
                        .pre_padding = {3},
                        .post_padding = {3},
                        .input_order = "@021",
                        .output_order = "@021"});
  check("few_outputs", {.input = {1, 20, 5, 6, 7},
                        .kernel = {4, 20, 3, 3, 3},
                        .pre_padding = {1, 1, 1},
                        .post_padding = {1, 1, 1},
                        .input_order = "@02341",
                        .output_order = "@02341"});
  check("few_outputs", {.input = {1, 128, 28, 28}, .kernel = {2, 128, 1, 1}});
}

TEST_F(FewOutputsConvolution, OneOutputIsRowMajor) {
  check("few_outputs", {.input = {2, 32, 9, 11}, .kernel = {1, 32, 3, 3}, .output_order = ""});
}

TEST_F(FewOutputsConvolution, Activations) {
  for (const char* op : {"relu", "hard_swish", "sigmoid", "tanh"}) {
    check("few_outputs",
          {.input = {1, 52, 9, 9}, .kernel = {3, 52, 3, 3}, .activation = "activation=\"" + std::string(op) + "\", "},
          1e-5);
  }
}

TEST_F(FewOutputsConvolution, OneKernelRunsManyShapes) {
  Convolution c = {.input = {1, 20, 14, 14}, .kernel = {3, 20, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}};
  c.dynamic = true;
  CompareOptions options;
  const std::string tuned = toText(c);
  for (const std::vector<int64_t>& input :
       std::vector<std::vector<int64_t>>{{3, 20, 5, 7}, {1, 20, 1, 1}, {0, 20, 4, 4}}) {
    c.input = input;
    options.shapes.push_back(toText(c));
  }
  expectMatchesReference(tuned, "few_outputs", options);
}

TEST_F(FewOutputsConvolution, NanStaysInItsWindows) {
  CompareOptions options;
  options.values = Values::kSomeNan;
  options.constants = Values::kExact;
  expectMatchesReference(
      toText({.input = {1, 20, 9, 19}, .kernel = {3, 20, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}}),
      "few_outputs", options);
}

TEST_F(FewOutputsConvolution, SaysWhatItCannotDo) {
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {5, 16, 3, 3}}), "few_outputs", "outputs");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {4, 4, 3, 3}, .groups = 4}), "few_outputs", "outputs");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {3, 16, 3, 3}, .input_order = "", .output_order = ""}),
                "few_outputs", "memory-order");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {3, 16, 3, 3}, .residual = true}), "few_outputs", "residual");
}

}  // namespace
}  // namespace torchtrt::kernels
