// Convolutions and deconvolutions whose kernels are no constants, against the reference.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

#ifndef TORCHTRT_NO_ONEDNN

TEST(ComputedWeights, OneDnnReordersThemInEachCall) {
  for (const char* order : {"", "@0231"}) {
    for (const int64_t channels : {1, 5, 16, 40}) {
      check("onednn_computed", {.input = {2, channels, 9, 11},
                                .kernel = {24, channels, 3, 3},
                                .stride = {2, 1},
                                .pre_padding = {1, 0},
                                .post_padding = {1, 2},
                                .computed = true,
                                .input_order = order,
                                .output_order = order});
    }
    check("onednn_computed", {.input = {1, 32, 12, 12},
                              .kernel = {48, 32, 1, 1},
                              .bias = false,
                              .computed = true,
                              .input_order = order,
                              .output_order = order});
  }
  for (const char* activation : {"activation=\"relu\", ", "activation=\"tanh\", "}) {
    check("onednn_computed",
          {.input = {1, 24, 12, 12},
           .kernel = {16, 24, 3, 3},
           .pre_padding = {1, 1},
           .post_padding = {1, 1},
           .residual = true,
           .computed = true,
           .activation = activation},
          1e-5);
  }
}

TEST(ComputedWeights, OneDnnOfGroups) {
  for (const char* order : {"", "@0231"}) {
    for (const int64_t per_group : {1, 3, 4, 8}) {
      check("onednn_computed", {.input = {2, 8 * per_group, 10, 9},
                                .kernel = {8 * per_group, per_group, 3, 3},
                                .pre_padding = {1, 1},
                                .post_padding = {1, 1},
                                .groups = 8,
                                .computed = true,
                                .input_order = order,
                                .output_order = order});
    }
  }
}

TEST(ComputedWeights, OneAndThreeSpatialDimensions) {
  check("onednn_computed", {.input = {2, 6, 21},
                            .kernel = {9, 6, 5},
                            .pre_padding = {2},
                            .post_padding = {2},
                            .computed = true,
                            .input_order = "@021",
                            .output_order = "@021"});
  check("onednn_computed", {.input = {1, 5, 6, 7, 8},
                            .kernel = {10, 5, 3, 3, 3},
                            .pre_padding = {1, 1, 1},
                            .post_padding = {1, 1, 1},
                            .dilation = {2, 1, 1},
                            .computed = true,
                            .input_order = "@02341",
                            .output_order = "@02341"});
}

// The sizes of the kernel itself come with each call, no elements among them.
TEST(ComputedWeights, OfAnySize) {
  const auto text = [](const std::string& input, const std::string& kernel, const std::string& output) {
    return "convolution float32 " + input + "@0231x" + kernel + "xnull -> " + output +
           "@0231 {dilation=[1, 1], groups=1, post_padding=[0, 0], pre_padding=[0, 0], stride=[1, 1]}";
  };
  CompareOptions options;
  options.shapes = {
      text("[1,?6,9,9]", "[?20,?6,?2,?5]", "[1,?20,?8,?5]"), text("[1,?3,9,9]", "[?5,?3,?1,?1]", "[1,?5,?9,?9]"),
      text("[1,?0,9,9]", "[?5,?0,?1,?1]", "[1,?5,?9,?9]"), text("[1,?6,9,9]", "[?0,?6,?3,?3]", "[1,?0,?7,?7]")};
  expectMatchesReference(text("[1,?16,9,9]", "[?24,?16,?3,?3]", "[1,?24,?7,?7]"), "onednn_computed", options);
}

TEST(ComputedWeights, OfDeconvolutions) {
  const auto text = [](const std::string& operands, const std::string& groups, const std::string& padding) {
    return "deconvolution float32 " + operands + " {dilation=[1, 1], groups=" + groups +
           ", output_padding=[0, 0], post_padding=" + padding + ", pre_padding=" + padding + ", stride=[2, 2]}";
  };
  expectMatchesReference(text("[2,12,7,6]@0231x[12,20,2,2]x[20] -> [2,20,14,12]@0231", "1", "[0, 0]"),
                         "onednn_computed");
  expectMatchesReference(text("[2,12,7,6]x[12,20,4,4]xnull -> [2,20,14,12]", "1", "[1, 1]"), "onednn_computed");
  expectMatchesReference(text("[1,12,7,6]@0231x[12,5,3,3]xnull -> [1,20,15,13]@0231", "4", "[0, 0]"),
                         "onednn_computed");
}

TEST(ComputedWeights, AreSafeForThreads) {
  expectSafeForThreads(
      "convolution float32 [1,16,20,20]@0231x[24,16,3,3]x[24] -> [1,24,18,18]@0231 {dilation=[1, 1], groups=1, "
      "post_padding=[0, 0], pre_padding=[0, 0], stride=[1, 1]}",
      "onednn_computed");
}

TEST(ComputedWeights, OfSixteenBitsAreWidened) {
  CompareOptions options;
  options.rtol = 1e-3;
  options.atol = 1e-3;
  expectMatchesReference(
      "convolution float16 [1,16,20,20]@0231x[24,16,3,3]xnull -> [1,24,18,18]@0231 {dilation=[1, 1], groups=1, "
      "post_padding=[0, 0], pre_padding=[0, 0], stride=[1, 1]}",
      "onednn_computed", options);
}

#endif  // TORCHTRT_NO_ONEDNN

}  // namespace
}  // namespace torchtrt::kernels
