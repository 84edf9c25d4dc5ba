// Convolutions to few outputs against the reference.
#include <gtest/gtest.h>

#include <string>

#include "cpu/convolution/direct/few_outputs_row.h"
#include "cpu/simd/isa.h"
#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

class NarrowConvolution : public ::testing::Test {
 protected:
  void SetUp() override {
    isaCap();  // is applied when it is first asked for
    if (convolution::narrowFunctions().lanes < convolution::kMostNarrowOutputs) {
      GTEST_SKIP() << "needs vectors of four floats";
    }
  }
};

TEST_F(NarrowConvolution, EveryTailOfChannelsAndColumns) {
  for (const int64_t outputs : {1, 2, 3, 4}) {
    for (const int64_t channels : {1, 3, 8, 16, 20, 33, 64}) {
      for (const int64_t width : {1, 2, 3, 4, 7, 8, 9, 23}) {
        check("narrow", {.input = {1, channels, 5, width},
                         .kernel = {outputs, channels, 3, 3},
                         .pre_padding = {1, 1},
                         .post_padding = {1, 1}});
      }
    }
  }
}

TEST_F(NarrowConvolution, StrideDilationPaddingAndRank) {
  for (const int64_t width : {9, 14, 15, 28}) {
    check("narrow", {.input = {2, 40, 15, width},
                     .kernel = {3, 40, 3, 3},
                     .stride = {2, 2},
                     .pre_padding = {1, 1},
                     .post_padding = {1, 1}});
  }
  check("narrow", {.input = {1, 24, 15, 17},
                   .kernel = {2, 24, 3, 5},
                   .pre_padding = {0, 3},
                   .post_padding = {2, 1},
                   .dilation = {2, 3},
                   .bias = false});
  check("narrow", {.input = {1, 20, 30},
                   .kernel = {1, 20, 7},
                   .pre_padding = {3},
                   .post_padding = {3},
                   .input_order = "@021",
                   .output_order = "@021"});
  check("narrow", {.input = {1, 20, 5, 6, 7},
                   .kernel = {4, 20, 3, 3, 3},
                   .pre_padding = {1, 1, 1},
                   .post_padding = {1, 1, 1},
                   .input_order = "@02341",
                   .output_order = "@02341"});
  check("narrow", {.input = {1, 128, 28, 28}, .kernel = {2, 128, 1, 1}});
}

TEST_F(NarrowConvolution, OneOutputIsRowMajor) {
  check("narrow", {.input = {2, 32, 9, 11}, .kernel = {1, 32, 3, 3}, .output_order = ""});
}

TEST_F(NarrowConvolution, Activations) {
  for (const char* op : {"relu", "hard_swish", "sigmoid", "tanh"}) {
    check("narrow",
          {.input = {1, 52, 9, 9}, .kernel = {3, 52, 3, 3}, .activation = "activation=\"" + std::string(op) + "\", "},
          1e-5);
  }
}

TEST_F(NarrowConvolution, OneKernelRunsManyShapes) {
  Convolution c = {.input = {1, 20, 14, 14}, .kernel = {3, 20, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}};
  c.dynamic = true;
  CompareOptions options;
  const std::string tuned = toText(c);
  for (const std::vector<int64_t>& input :
       std::vector<std::vector<int64_t>>{{3, 20, 5, 7}, {1, 20, 1, 1}, {0, 20, 4, 4}}) {
    c.input = input;
    options.shapes.push_back(toText(c));
  }
  expectMatchesReference(tuned, "narrow", options);
}

TEST_F(NarrowConvolution, NanStaysInItsWindows) {
  CompareOptions options;
  options.values = Values::kSomeNan;
  options.constants = Values::kExact;
  expectMatchesReference(
      toText({.input = {1, 20, 9, 19}, .kernel = {3, 20, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}}),
      "narrow", options);
}

TEST_F(NarrowConvolution, SaysWhatItCannotDo) {
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {5, 16, 3, 3}}), "narrow", "outputs");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {4, 4, 3, 3}, .groups = 4}), "narrow", "outputs");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {3, 16, 3, 3}, .input_order = "", .output_order = ""}),
                "narrow", "memory-order");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {3, 16, 3, 3}, .residual = true}), "narrow", "residual");
}

}  // namespace
}  // namespace torchtrt::kernels
