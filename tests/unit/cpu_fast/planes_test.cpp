// Convolutions with few outputs over row-major images, against the reference.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

Convolution rowMajor(Convolution convolution) {
  convolution.input_order = "";
  convolution.output_order = "";
  return convolution;
}

TEST(PlanesConvolution, EveryNumberOfOutputsAndTailOfColumns) {
  for (int64_t outputs = 1; outputs <= 8; ++outputs) {
    for (const int64_t columns : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50}) {
      check("planes", rowMajor({.input = {2, 3, 5, columns + 2}, .kernel = {outputs, 3, 3, 3}}));
    }
  }
}

TEST(PlanesConvolution, BordersStridesAndDilation) {
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t dilation : {1, 2}) {
      for (const int64_t k : {1, 3, 5}) {
        const int64_t pad = (k / 2) * dilation;
        check("planes", rowMajor({.input = {2, 2, 11, 37},
                                  .kernel = {5, 2, k, k},
                                  .stride = {stride, stride},
                                  .pre_padding = {pad, pad},
                                  .post_padding = {pad, pad + 1},
                                  .dilation = {dilation, dilation}}));
      }
    }
  }
}

TEST(PlanesConvolution, RowsLongerThanTheirCopies) {
  check("planes",
        rowMajor({.input = {1, 2, 4, 5000}, .kernel = {3, 2, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}}));
  check("planes", rowMajor({.input = {1, 3, 9, 1201},
                            .kernel = {8, 3, 5, 5},
                            .stride = {1, 2},
                            .pre_padding = {2, 2},
                            .post_padding = {2, 2}}));
}

TEST(PlanesConvolution, LinesThatNoRowReads) {
  check("planes", rowMajor({.input = {2, 1, 40, 70}, .kernel = {6, 1, 2, 2}, .stride = {7, 4}}));
  check("planes", rowMajor({.input = {1, 2, 60, 200},
                            .kernel = {8, 2, 3, 3},
                            .pre_padding = {20, 3},
                            .post_padding = {20, 3},
                            .dilation = {20, 3}}));
  check("planes",
        rowMajor({.input = {1, 1, 3, 20}, .kernel = {4, 1, 3, 3}, .pre_padding = {6, 9}, .post_padding = {4, 30}}));
}

TEST(PlanesConvolution, OneAndThreeSpatialDimensions) {
  check("planes", rowMajor({.input = {2, 4, 61}, .kernel = {6, 4, 5}, .pre_padding = {2}, .post_padding = {2}}));
  check("planes", rowMajor({.input = {1, 2, 4, 5, 33},
                            .kernel = {4, 2, 3, 3, 3},
                            .stride = {1, 2, 1},
                            .pre_padding = {1, 1, 1},
                            .post_padding = {1, 1, 1}}));
}

TEST(PlanesConvolution, ActivationsAndNoBias) {
  for (const char* activation : {"activation=\"relu\", ", "activation=\"hard_swish\", ", "activation=\"tanh\", "}) {
    check("planes", rowMajor({.input = {1, 1, 8, 40}, .kernel = {6, 1, 3, 3}, .bias = false, .activation = activation}),
          1e-5);
  }
}

TEST(PlanesConvolution, DynamicShapes) {
  check("planes", rowMajor({.input = {2, 3, 9, 40},
                            .kernel = {4, 3, 3, 3},
                            .pre_padding = {1, 1},
                            .post_padding = {1, 1},
                            .dynamic = true}));
}

TEST(PlanesConvolution, SaysWhatItCannotDo) {
  expectRefused(toText({.input = {1, 3, 9, 40}, .kernel = {4, 3, 3, 3}}), "planes", "memory-order");
  expectRefused(toText(rowMajor({.input = {1, 3, 9, 40}, .kernel = {9, 3, 3, 3}})), "planes", "wide");
  expectRefused(toText(rowMajor({.input = {1, 4, 9, 40}, .kernel = {4, 2, 3, 3}, .groups = 2})), "planes", "wide");
  expectRefused(toText(rowMajor({.input = {1, 3, 9, 40}, .kernel = {4, 3, 3, 3}, .residual = true})), "planes",
                "residual");
  expectRefused(toText(rowMajor({.input = {1, 64, 9, 40}, .kernel = {4, 64, 5, 5}})), "planes", "large-kernel");
}

}  // namespace
}  // namespace torchtrt::kernels
