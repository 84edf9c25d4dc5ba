// Convolutions in groups of four channels against the reference.
#include <gtest/gtest.h>

#include <string>

#include "cpu/convolution/direct/grouped_row.h"
#include "cpu/simd/isa.h"
#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

class GroupedConvolution : public ::testing::Test {
 protected:
  void SetUp() override {
    isaCap();  // is applied when it is first asked for
    if (convolution::groupedFunctions().lanes < 4) {
      GTEST_SKIP() << "needs vectors of four floats";
    }
  }
};

TEST_F(GroupedConvolution, EveryTailOfChannelsAndColumns) {
  for (const int64_t channels : {8, 12, 16, 20, 32, 36, 100, 128}) {
    for (const int64_t width : {1, 2, 3, 5, 6, 7, 14, 23}) {
      check("grouped", {.input = {1, channels, 6, width},
                        .kernel = {channels, 4, 3, 3},
                        .pre_padding = {1, 1},
                        .post_padding = {1, 1},
                        .groups = channels / 4});
    }
  }
}

TEST_F(GroupedConvolution, StrideDilationPaddingAndRank) {
  for (const int64_t width : {9, 14, 15, 28}) {
    check("grouped", {.input = {2, 40, 15, width},
                      .kernel = {40, 4, 3, 3},
                      .stride = {2, 2},
                      .pre_padding = {1, 1},
                      .post_padding = {1, 1},
                      .groups = 10});
  }
  check("grouped", {.input = {1, 24, 15, 17},
                    .kernel = {24, 4, 3, 5},
                    .pre_padding = {0, 3},
                    .post_padding = {2, 1},
                    .dilation = {2, 3},
                    .groups = 6,
                    .bias = false});
  check("grouped", {.input = {1, 20, 30},
                    .kernel = {20, 4, 7},
                    .pre_padding = {3},
                    .post_padding = {3},
                    .groups = 5,
                    .input_order = "@021",
                    .output_order = "@021"});
  check("grouped", {.input = {1, 20, 5, 6, 7},
                    .kernel = {20, 4, 3, 3, 3},
                    .pre_padding = {1, 1, 1},
                    .post_padding = {1, 1, 1},
                    .groups = 5,
                    .input_order = "@02341",
                    .output_order = "@02341"});
  check("grouped", {.input = {1, 128, 28, 28}, .kernel = {128, 4, 1, 1}, .groups = 32});
}

TEST_F(GroupedConvolution, Activations) {
  for (const char* op : {"relu", "hard_swish", "silu"}) {
    check("grouped",
          {.input = {1, 52, 9, 9},
           .kernel = {52, 4, 3, 3},
           .groups = 13,
           .activation = "activation=\"" + std::string(op) + "\", "},
          1e-5);
  }
}

TEST_F(GroupedConvolution, OneKernelRunsManyShapes) {
  Convolution c = {
      .input = {1, 20, 14, 14}, .kernel = {20, 4, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}, .groups = 5};
  c.dynamic = true;
  CompareOptions options;
  const std::string tuned = toText(c);
  for (const std::vector<int64_t>& input :
       std::vector<std::vector<int64_t>>{{3, 20, 5, 7}, {1, 20, 1, 1}, {0, 20, 4, 4}}) {
    c.input = input;
    options.shapes.push_back(toText(c));
  }
  expectMatchesReference(tuned, "grouped", options);
}

TEST_F(GroupedConvolution, NanStaysInItsWindows) {
  CompareOptions options;
  options.values = Values::kSomeNan;
  options.constants = Values::kExact;
  expectMatchesReference(toText({.input = {1, 20, 9, 19},
                                 .kernel = {20, 4, 3, 3},
                                 .pre_padding = {1, 1},
                                 .post_padding = {1, 1},
                                 .groups = 5}),
                         "grouped", options);
}

TEST_F(GroupedConvolution, SaysWhatItCannotDo) {
  expectRefused(toText({.input = {1, 4, 9, 9}, .kernel = {4, 4, 3, 3}}), "grouped", "groups");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {32, 4, 3, 3}, .groups = 4}), "grouped", "groups");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {16, 8, 3, 3}, .groups = 2}), "grouped", "groups");
  expectRefused(
      toText({.input = {1, 16, 9, 9}, .kernel = {16, 4, 3, 3}, .groups = 4, .input_order = "", .output_order = ""}),
      "grouped", "memory-order");
  expectRefused(toText({.input = {1, 16, 9, 9}, .kernel = {16, 4, 3, 3}, .groups = 4, .residual = true}), "grouped",
                "residual");
}

}  // namespace
}  // namespace torchtrt::kernels
