// The fast convolutions against the reference: every reading of the input, every border, tails of channels, columns and
// rows.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

TEST(PackedGemmConvolution, PointwiseForEveryTailOfRowsAndColumns) {
  for (const int64_t outputs : {1, 3, 7, 16, 17, 33, 48, 64, 80, 112, 200}) {
    for (int64_t rows = 1; rows <= 17; ++rows) {
      check("packed_gemm", {.input = {1, 5, 1, rows}, .kernel = {outputs, 5, 1, 1}});
    }
  }
  check("packed_gemm", {.input = {3, 64, 14, 14}, .kernel = {96, 64, 1, 1}, .bias = false});
  check("packed_gemm", {.input = {1, 960, 1, 1}, .kernel = {240, 960, 1, 1}, .input_order = "", .output_order = ""});
  check("packed_gemm", {.input = {1, 672, 14, 14}, .kernel = {112, 672, 1, 1}});
}

TEST(PackedGemmConvolution, WindowsWithBorders) {
  for (const int64_t channels : {1, 3, 17, 24}) {
    for (const int64_t k : {2, 3, 5, 7}) {
      check("packed_gemm", {.input = {2, channels, 9, 7},
                            .kernel = {11, channels, k, k},
                            .pre_padding = {k / 2, k / 2},
                            .post_padding = {k / 2, k / 2}});
      check("packed_gemm", {.input = {1, channels, 12, 10},
                            .kernel = {8, channels, k, 2},
                            .stride = {2, 3},
                            .pre_padding = {1, 0},
                            .post_padding = {0, 2}});
    }
  }
}

TEST(PackedGemmConvolution, DilationGroupsAndStride) {
  check("packed_gemm", {.input = {1, 32, 15, 15},
                        .kernel = {24, 32, 3, 3},
                        .pre_padding = {2, 2},
                        .post_padding = {2, 2},
                        .dilation = {2, 2}});
  check("packed_gemm", {.input = {1, 4, 15, 15}, .kernel = {8, 4, 3, 3}, .dilation = {3, 2}});
  check("packed_gemm",
        {.input = {2, 24, 9, 9}, .kernel = {32, 6, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}, .groups = 4});
  check("packed_gemm", {.input = {1, 64, 14, 14}, .kernel = {128, 64, 1, 1}, .stride = {2, 2}});
}

TEST(PackedGemmConvolution, OneAndThreeSpatialDimensions) {
  check("packed_gemm", {.input = {2, 6, 21},
                        .kernel = {9, 6, 5},
                        .pre_padding = {2},
                        .post_padding = {2},
                        .input_order = "@021",
                        .output_order = "@021"});
  check("packed_gemm", {.input = {1, 5, 6, 7, 8},
                        .kernel = {10, 5, 3, 3, 3},
                        .pre_padding = {1, 1, 1},
                        .post_padding = {1, 1, 1},
                        .input_order = "@02341",
                        .output_order = "@02341"});
  check("packed_gemm", {.input = {1, 20, 6, 7, 8},
                        .kernel = {10, 20, 3, 1, 3},
                        .stride = {2, 1, 2},
                        .pre_padding = {1, 0, 1},
                        .post_padding = {1, 0, 1},
                        .input_order = "@02341",
                        .output_order = "@02341"});
}

TEST(PackedGemmConvolution, RowMajorImage) {
  check("packed_gemm", {.input = {2, 3, 32, 32},
                        .kernel = {16, 3, 3, 3},
                        .stride = {2, 2},
                        .pre_padding = {1, 1},
                        .post_padding = {1, 1},
                        .input_order = ""});
  check("packed_gemm", {.input = {1, 3, 20, 23},
                        .kernel = {20, 3, 7, 7},
                        .stride = {2, 2},
                        .pre_padding = {3, 3},
                        .post_padding = {3, 3},
                        .input_order = ""});
  check("packed_gemm", {.input = {1, 1, 32, 32}, .kernel = {6, 1, 5, 5}, .input_order = ""});
  for (const int64_t outputs : {8, 16, 24}) {  // lines that end in tiles of five and six rows
    for (const int64_t width : {13, 14}) {
      check("packed_gemm", {.input = {1, 6, 9, width},
                            .kernel = {outputs, 6, 3, 3},
                            .pre_padding = {1, 1},
                            .post_padding = {1, 1},
                            .input_order = ""});
    }
  }
}

// Small images that no window leaves: a tile may hold the end of one line, or image, and the beginning of the next.
TEST(PackedGemmConvolution, TilesAcrossTheEndsOfLines) {
  for (const int64_t channels : {1, 6, 20}) {
    for (const int64_t width : {3, 7, 15, 16}) {
      check("packed_gemm", {.input = {3, channels, 7, width}, .kernel = {20, channels, 3, 3}});
    }
    check("packed_gemm", {.input = {2, channels, 11, 15}, .kernel = {20, channels, 3, 2}, .stride = {2, 3}});
    check("packed_gemm", {.input = {2, channels, 11, 17}, .kernel = {20, channels, 3, 3}, .dilation = {2, 3}});
  }
  check("packed_gemm", {.input = {2, 6, 9, 15}, .kernel = {16, 6, 3, 3}, .stride = {2, 1}, .input_order = ""});
  check("packed_gemm", {.input = {2, 20, 9, 15}, .kernel = {16, 20, 3, 3}, .residual = true});
}

TEST(PackedGemmConvolution, ResidualAndActivations) {
  check("packed_gemm", {.input = {1, 16, 9, 9}, .kernel = {40, 16, 1, 1}, .residual = true});
  check("packed_gemm", {.input = {1, 16, 9, 9},
                        .kernel = {40, 16, 3, 3},
                        .pre_padding = {1, 1},
                        .post_padding = {1, 1},
                        .residual = true,
                        .activation = "activation=\"relu\", "});
  check("packed_gemm", {.input = {1, 16, 9, 9},
                        .kernel = {40, 16, 1, 1},
                        .activation = "activation=\"clip\", activation_alpha=-0.5, activation_beta=1.5, "});
  for (const char* op : {"hard_swish", "silu", "sigmoid", "gelu_erf", "tanh"}) {
    check("packed_gemm",
          {.input = {1, 16, 9, 9}, .kernel = {40, 16, 1, 1}, .activation = "activation=\"" + std::string(op) + "\", "},
          1e-5);
  }
}

TEST(PackedGemmConvolution, NanSurvivesRelu) {
  CompareOptions options;
  options.values = Values::kSomeNan;
  expectMatchesReference(
      toText({.input = {1, 8, 14, 14}, .kernel = {20, 8, 3, 3}, .activation = "activation=\"relu\", "}), "packed_gemm",
      options);
}

TEST(PackedGemmConvolution, OneKernelRunsManyShapes) {
  Convolution c = {.input = {1, 16, 14, 14}, .kernel = {24, 16, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}};
  c.dynamic = true;
  CompareOptions options;
  const std::string tuned = toText(c);
  for (const std::vector<int64_t>& input : std::vector<std::vector<int64_t>>{
           {4, 16, 7, 9}, {1, 16, 1, 1}, {2, 16, 33, 5}, {0, 16, 14, 14}, {1, 16, 14, 14}}) {
    c.input = input;
    options.shapes.push_back(toText(c));
  }
  expectMatchesReference(tuned, "packed_gemm", options);
}

TEST(PackedGemmConvolution, SaysWhatItCannotDo) {
  expectRefused(toText({.input = {1, 8, 9, 9}, .kernel = {8, 8, 3, 3}, .output_order = ""}), "packed_gemm",
                "memory-order");
  expectRefused(toText({.input = {1, 64, 9, 9}, .kernel = {64, 2, 3, 3}, .groups = 32}), "packed_gemm",
                "narrow-groups");
}

// Pixels at the border are rows by themselves; which columns a thread computes must not show in their sums.
TEST(PackedGemmConvolution, BorderPixelsHaveTheSameBitsOnAnyNumberOfThreads) {
  CompareOptions smooth;
  smooth.values = Values::kSmooth;
  smooth.atol = 2e-6;
  for (const int64_t outputs : {48, 100, 192, 500}) {
    for (const int64_t width : {3, 10, 18}) {
      expectMatchesReference(toText({.input = {1, 30, 1, width},
                                     .kernel = {outputs, 30, 1, 3},
                                     .pre_padding = {0, 1},
                                     .post_padding = {0, 1}}),
                             "packed_gemm", smooth);
    }
  }
}

TEST(DepthwiseConvolution, EveryTailOfChannelsAndColumns) {
  for (const int64_t channels : {1, 3, 16, 17, 33, 72, 120, 150}) {
    for (const int64_t width : {1, 5, 7, 14, 23}) {
      check("depthwise", {.input = {1, channels, 6, width},
                          .kernel = {channels, 1, 3, 3},
                          .pre_padding = {1, 1},
                          .post_padding = {1, 1},
                          .groups = channels});
    }
  }
}

// Rows of one tile and tiles of 7 and 8 columns, that meet padding at one end, at both or at none.
TEST(DepthwiseConvolution, EveryWindowStrideAndMargin) {
  for (const int64_t taps : {3, 5, 7}) {
    for (const int64_t stride : {1, 2}) {
      for (const int64_t width : {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 28, 41}) {
        for (const int64_t margin : {int64_t{0}, int64_t{1}, taps / 2, taps - 1}) {
          check("depthwise", {.input = {1, 20, taps + 1, width},
                              .kernel = {20, 1, taps, taps},
                              .stride = {stride, stride},
                              .pre_padding = {1, margin},
                              .post_padding = {0, taps / 2},
                              .groups = 20});
        }
      }
    }
  }
}

TEST(DepthwiseConvolution, StrideDilationPaddingAndRank) {
  check("depthwise", {.input = {2, 40, 15, 15},
                      .kernel = {40, 1, 5, 5},
                      .stride = {2, 2},
                      .pre_padding = {2, 2},
                      .post_padding = {2, 2},
                      .groups = 40});
  check("depthwise", {.input = {1, 24, 15, 17},
                      .kernel = {24, 1, 3, 5},
                      .pre_padding = {0, 3},
                      .post_padding = {2, 1},
                      .dilation = {2, 3},
                      .groups = 24,
                      .bias = false});
  check("depthwise", {.input = {1, 20, 30},
                      .kernel = {20, 1, 7},
                      .pre_padding = {3},
                      .post_padding = {3},
                      .groups = 20,
                      .input_order = "@021",
                      .output_order = "@021"});
  check("depthwise", {.input = {1, 20, 5, 6, 7},
                      .kernel = {20, 1, 3, 3, 3},
                      .pre_padding = {1, 1, 1},
                      .post_padding = {1, 1, 1},
                      .groups = 20,
                      .input_order = "@02341",
                      .output_order = "@02341"});
  check("depthwise", {.input = {1, 500, 14, 14},
                      .kernel = {500, 1, 5, 5},
                      .pre_padding = {2, 2},
                      .post_padding = {2, 2},
                      .groups = 500});
}

TEST(DepthwiseConvolution, VeryWideWindows) {
  for (const int64_t taps : {103, 105, 203}) {
    check("depthwise", {.input = {1, 20, 1, 230}, .kernel = {20, 1, 1, taps}, .pre_padding = {0, 2}, .groups = 20});
  }
}

TEST(DepthwiseConvolution, Activations) {
  check("depthwise",
        {.input = {1, 50, 9, 9}, .kernel = {50, 1, 3, 3}, .groups = 50, .activation = "activation=\"relu\", "});
  for (const char* op : {"hard_swish", "silu"}) {
    check("depthwise",
          {.input = {1, 50, 9, 9},
           .kernel = {50, 1, 3, 3},
           .groups = 50,
           .activation = "activation=\"" + std::string(op) + "\", "},
          1e-5);
  }
}

TEST(DepthwiseConvolution, OneKernelRunsManyShapes) {
  Convolution c = {
      .input = {1, 18, 14, 14}, .kernel = {18, 1, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}, .groups = 18};
  c.dynamic = true;
  CompareOptions options;
  const std::string tuned = toText(c);
  for (const std::vector<int64_t>& input :
       std::vector<std::vector<int64_t>>{{3, 18, 5, 21}, {1, 18, 1, 1}, {0, 18, 4, 4}}) {
    c.input = input;
    options.shapes.push_back(toText(c));
  }
  expectMatchesReference(tuned, "depthwise", options);
}

TEST(DepthwiseConvolution, SaysWhatItCannotDo) {
  expectRefused(toText({.input = {1, 8, 9, 9}, .kernel = {8, 8, 3, 3}}), "depthwise", "not-depthwise");
}

#ifndef TORCHTRT_NO_ONEDNN
TEST(OneDnnConvolution, WindowsLayoutsAndGroups) {
  for (const char* order : {"", "@0231"}) {
    check("onednn", {.input = {2, 16, 14, 14},
                     .kernel = {24, 16, 3, 3},
                     .pre_padding = {1, 1},
                     .post_padding = {1, 1},
                     .input_order = order,
                     .output_order = order});
    check("onednn", {.input = {1, 3, 15, 17},
                     .kernel = {5, 3, 3, 2},
                     .stride = {2, 3},
                     .pre_padding = {1, 0},
                     .post_padding = {0, 2},
                     .bias = false,
                     .input_order = order,
                     .output_order = order});
    check("onednn", {.input = {1, 32, 12, 12},
                     .kernel = {32, 4, 3, 3},
                     .pre_padding = {2, 2},
                     .post_padding = {2, 2},
                     .dilation = {2, 2},
                     .groups = 8,
                     .input_order = order,
                     .output_order = order});
    check("onednn",
          {.input = {1, 17, 7, 7}, .kernel = {17, 1, 3, 3}, .groups = 17, .input_order = order, .output_order = order});
  }
  check("onednn",
        {.input = {2, 7, 33}, .kernel = {11, 7, 5}, .pre_padding = {4}, .input_order = "", .output_order = ""});
  check("onednn",
        {.input = {1, 4, 6, 7, 8}, .kernel = {8, 4, 3, 3, 3}, .input_order = "@02341", .output_order = "@02341"});
}

TEST(OneDnnConvolution, ResidualAndActivations) {
  for (const char* activation :
       {"", "activation=\"relu\", ", "activation=\"clip\", activation_alpha=0.0, activation_beta=2.0, ",
        "activation=\"leaky_relu\", activation_alpha=0.125, "}) {
    check("onednn", {.input = {1, 16, 9, 9}, .kernel = {32, 16, 3, 3}, .residual = true, .activation = activation});
  }
  for (const char* op : {"hard_swish", "silu", "sigmoid", "gelu_tanh", "elu"}) {
    check("onednn",
          {.input = {1, 16, 9, 9},
           .kernel = {32, 16, 3, 3},
           .activation = "activation=\"" + std::string(op) + "\", activation_alpha=1.0, "},
          1e-5);
  }
}

TEST(OneDnnConvolution, OneKernelRunsManyShapes) {
  Convolution c = {.input = {1, 32, 14, 14}, .kernel = {64, 32, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}};
  c.dynamic = true;
  CompareOptions options;
  const std::string tuned = toText(c);
  for (const std::vector<int64_t>& input :
       std::vector<std::vector<int64_t>>{{4, 32, 7, 9}, {1, 32, 1, 1}, {2, 32, 30, 5}, {0, 32, 14, 14}}) {
    c.input = input;
    options.shapes.push_back(toText(c));
  }
  expectMatchesReference(tuned, "onednn", options);
}

// Wide groups on small images: with one image oneDNN packs 32 outputs to a block, of which it has a plain loop alone
// for more (RegNet's ran 800 times as long).
TEST(OneDnnConvolution, WeightsArePackedAgainForShapesThatTheFirstLayoutDoesNotSuit) {
  Convolution c = {.input = {1, 896, 14, 14},
                   .kernel = {896, 128, 3, 3},
                   .pre_padding = {1, 1},
                   .post_padding = {1, 1},
                   .groups = 7,
                   .dynamic = true};
  CompareOptions options;
  const std::string tuned = toText(c);
  for (const int64_t batch : {2, 1, 3}) {
    c.input[0] = batch;
    options.shapes.push_back(toText(c));
  }
  expectMatchesReference(tuned, "onednn", options);
}

TEST(OneDnnConvolution, NanSurvivesRelu) {
  CompareOptions options;
  options.values = Values::kSomeNan;
  const std::string text =
      toText({.input = {1, 32, 14, 14}, .kernel = {64, 32, 3, 3}, .activation = "activation=\"relu\", "});
  expectMatchesReference(text, "onednn", options);
}

TEST(OneDnnDeconvolution, MatchesReference) {
  CompareOptions exact;
  exact.rtol = 0;
  exact.atol = 0;
  expectMatchesReference(
      "deconvolution float32 [1,8,5,5]x[8,6,3,3]!x[6] -> [1,6,11,11] {dilation=[1, 1], groups=1, output_padding=[0, "
      "0], "
      "post_padding=[0, 0], pre_padding=[0, 0], stride=[2, 2]}",
      "onednn", exact);
  expectMatchesReference(
      "deconvolution float32 [2,8,5,6]x[8,4,3,3]!xnull -> [2,8,10,12] {activation=\"relu\", dilation=[1, 1], groups=2, "
      "output_padding=[1, 1], post_padding=[1, 1], pre_padding=[1, 1], stride=[2, 2]}",
      "onednn", exact);
  expectMatchesReference(
      "deconvolution float32 [1,8,5,5]@0231x[8,6,2,2]!x[6] -> [1,6,14,14]@0231 {dilation=[1, 1], groups=1, "
      "output_padding=[0, 0], post_padding=[0, 0], pre_padding=[0, 0], stride=[3, 3]}",
      "onednn", exact);
}

// Its kernels for that leave products out where channels are many.
TEST(OneDnnDeconvolution, LeavesOverlappingWindowsToOthers) {
  const auto text = [](const std::string& weights) {
    return "deconvolution float32 [1,512,4,4]@0231x[512,256,4,4]" + weights +
           "xnull -> [1,256,8,8]@0231 {activation=\"relu\", dilation=[1, 1], groups=1, output_padding=[0, 0], "
           "post_padding=[1, 1], pre_padding=[1, 1], stride=[2, 2]}";
  };
  expectRefused(text("!"), "onednn", "wrong");
  expectMatchesReference(text("!"), "onednn_computed");
  expectMatchesReference(text(""), "onednn_computed");
}
#endif

}  // namespace
}  // namespace torchtrt::kernels
