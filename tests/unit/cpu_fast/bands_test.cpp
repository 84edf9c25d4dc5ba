// Products with more rows than columns and panels of several blocks: every thread has rows of its own.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_fast/compare.h"
#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

TEST(Bands, Product) {
  for (const char* rows : {"900", "1029", "1033"}) {
    expectMatchesReferenceInBoth("matrix_multiply float32 [" + std::string(rows) + ",300]x[300,700]!x[700] -> [" +
                                     rows + ",700] {activation=\"gelu_erf\"}",
                                 "packed_gemm");
  }
}

TEST(Bands, PointwiseConvolution) {
  check("packed_gemm", {.input = {1, 288, 31, 37}, .kernel = {600, 288, 1, 1}, .activation = "activation=\"relu\", "});
}

TEST(Bands, LinesAndTilesOfWindows) {
  for (const std::vector<int64_t>& size : {std::vector<int64_t>{56, 40}, std::vector<int64_t>{450, 5}}) {
    check(
        "packed_gemm",
        {.input = {1, 90, size[0], size[1]}, .kernel = {500, 90, 1, 3}, .pre_padding = {0, 1}, .post_padding = {0, 1}});
  }
}

}  // namespace
}  // namespace torchtrt::kernels
