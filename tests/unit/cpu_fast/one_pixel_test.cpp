// Convolutions of images of one pixel, and of one channel in any order of the axes. Strides of dims of size 1 say
// nothing: row-major and channels-last are the same memory there.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_fast/convolution_problem.h"
#include "cpu_fast/deconvolution_problem.h"

namespace torchtrt::kernels {
namespace {

TEST(OnePixel, RowMajorImages) {
  for (const int64_t channels : {1, 2, 3, 4, 5, 8, 16, 17}) {
    for (const std::vector<int64_t>& stride : {std::vector<int64_t>{1, 1}, {2, 2}}) {
      for (const int64_t padding : {1, 2}) {
        check("packed_gemm", {.input = {2, channels, 1, 1},
                              .kernel = {3, channels, 3, 3},
                              .stride = stride,
                              .pre_padding = {padding, padding},
                              .post_padding = {padding, padding},
                              .input_order = "",
                              .output_order = padding == 1 ? "" : "@0231"});
      }
    }
    check("packed_gemm", {.input = {2, channels, 1},
                          .kernel = {3, channels, 5},
                          .pre_padding = {2},
                          .post_padding = {2},
                          .input_order = "",
                          .output_order = ""});
    check("packed_gemm", {.input = {1, channels, 1, 1, 1},
                          .kernel = {7, channels, 3, 1, 2},
                          .pre_padding = {1, 0, 1},
                          .post_padding = {1, 0, 0},
                          .input_order = "",
                          .output_order = ""});
  }
}

// Sums about the first pixel are too long for the copy with padding, so that each row is found by itself.
TEST(OnePixel, ManyImages) {
  check("packed_gemm", {.input = {5000, 4, 1, 1},
                        .kernel = {8, 4, 3, 3},
                        .pre_padding = {1, 1},
                        .post_padding = {1, 1},
                        .input_order = "",
                        .output_order = ""});
}

TEST(OnePixel, OtherKernels) {
  const Convolution few_outputs = {.input = {2, 64, 1, 1},
                                   .kernel = {2, 64, 3, 3},
                                   .pre_padding = {1, 1},
                                   .post_padding = {1, 1},
                                   .input_order = "",
                                   .output_order = ""};
  check("few_outputs", few_outputs);
  check("depthwise", {.input = {2, 20, 1, 1},
                      .kernel = {20, 1, 3, 3},
                      .pre_padding = {1, 1},
                      .post_padding = {1, 1},
                      .groups = 20,
                      .input_order = "",
                      .output_order = ""});
  check("grouped", {.input = {2, 16, 1, 1},
                    .kernel = {16, 4, 3, 3},
                    .pre_padding = {1, 1},
                    .post_padding = {1, 1},
                    .groups = 4,
                    .input_order = "",
                    .output_order = ""});
  CompareOptions exact;
  exact.rtol = exact.atol = 0;
  expectMatchesReference(toText({"[2,8,1,1]x[8,16,4,4]!x[16] -> [2,16,2,2]@0231"}), "phases", exact);
  expectMatchesReference(toText({"[2,8,1,1]x[8,16,2,2]!x[16] -> [2,16,2,2]@0231", "2, 2", "0, 0", "0, 0"}), "spread",
                         exact);
}

// Height and width exchanged in the order: the pixels of a line do not lie next to each other.
TEST(OneChannel, AnyOrderOfTheAxes) {
  for (const char* order : {"@0132", "@0321", "@3210", "@1032", "@0312"}) {
    for (const int64_t padding : {0, 1}) {
      check("packed_gemm", {.input = {2, 1, 7, 6},
                            .kernel = {5, 1, 3, 3},
                            .pre_padding = {padding, padding},
                            .post_padding = {padding, padding},
                            .input_order = order});
    }
    check("packed_gemm", {.input = {1, 1, 12, 9}, .kernel = {8, 1, 2, 5}, .stride = {2, 1}, .input_order = order});
  }
  check("packed_gemm",
        {.input = {1, 1, 4, 5, 6}, .kernel = {8, 1, 2, 3, 3}, .input_order = "@01432", .output_order = "@02341"});
}

}  // namespace
}  // namespace torchtrt::kernels
