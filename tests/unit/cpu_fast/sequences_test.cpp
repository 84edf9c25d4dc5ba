// Convolutions over sequences, in one dimension or as images one pixel wide.
#include <gtest/gtest.h>

#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

// A sequence as an image one pixel wide, or as a volume; and lines long enough to be shared between threads.
TEST(Sequences, AreOneLine) {
  for (const int64_t padding : {0, 2}) {
    check("packed_gemm", {.input = {2, 20, 37, 1},
                          .kernel = {9, 20, 5, 1},
                          .stride = {2, 1},
                          .pre_padding = {padding, 0},
                          .post_padding = {padding, 0},
                          .residual = true});
  }
  check("packed_gemm", {.input = {1, 24, 1, 300, 1},
                        .kernel = {16, 12, 1, 3, 1},
                        .pre_padding = {0, 2, 0},
                        .post_padding = {0, 2, 0},
                        .dilation = {1, 2, 1},
                        .groups = 2,
                        .input_order = "@02341",
                        .output_order = "@02341"});
  check("packed_gemm", {.input = {2, 3, 5, 1}, .kernel = {4, 3, 3, 1}, .stride = {1, 3}, .post_padding = {0, 2}});
}

TEST(Sequences, LongLinesAreSharedBetweenThreads) {
  for (const int64_t length : {511, 512, 1030}) {
    for (const int64_t stride : {1, 2}) {
      check("packed_gemm", {.input = {2, 20, length},
                            .kernel = {9, 20, 4},
                            .stride = {stride},
                            .pre_padding = {3},
                            .post_padding = {1},
                            .input_order = "@021",
                            .output_order = "@021"});
    }
  }
  check("packed_gemm", {.input = {1, 20, 3, 600},
                        .kernel = {9, 20, 3, 3},
                        .pre_padding = {1, 1},
                        .post_padding = {1, 1},
                        .residual = true});
}

// Windows too long for a tile's patches on the stack: filter banks over signals, cut in parts along the window.
TEST(LongWindows, AreProductsOfRowsThatOverlap) {
  for (const int64_t padding : {0, 300}) {
    for (const char* output_order : {"@021", ""}) {
      check("packed_gemm", {.input = {2, 1, 3001},
                            .kernel = {output_order[0] == '@' ? 13 : 1, 1, 1025},
                            .stride = {64},
                            .pre_padding = {padding},
                            .post_padding = {padding / 2},
                            .activation = "activation=\"relu\", ",
                            .input_order = "",
                            .output_order = output_order});
    }
  }
  check("packed_gemm", {.input = {1, 1, 9000},
                        .kernel = {20, 1, 8192},
                        .stride = {16},
                        .bias = false,
                        .input_order = "",
                        .output_order = "@021"});
}

TEST(LongWindows, ReadFewChannelsOfEitherOrder) {
  for (const char* input_order : {"", "@021"}) {
    check("packed_gemm", {.input = {2, 4, 2100},
                          .kernel = {48, 4, 513},
                          .stride = {32},
                          .pre_padding = {256},
                          .post_padding = {256},
                          .residual = true,
                          .dynamic = true,
                          .input_order = input_order,
                          .output_order = "@021"});
    check("packed_gemm",
          {.input = {3, 2, 700}, .kernel = {9, 2, 600}, .input_order = input_order, .output_order = "@021"});
  }
}

TEST(LongWindows, OfImagesHaveSeveralLines) {
  for (const char* input_order : {"", "@0231"}) {
    check("packed_gemm", {.input = {2, 3, 5, 400},
                          .kernel = {20, 3, 3, 200},
                          .stride = {1, 8},
                          .pre_padding = {1, 20},
                          .post_padding = {0, 20},
                          .dilation = {2, 1},
                          .input_order = input_order});
  }
}

}  // namespace
}  // namespace torchtrt::kernels
