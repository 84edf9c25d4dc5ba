// Winograd's convolution against the reference: borders, what is fused, values that must not spread, exactness.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cpu/convolution/winograd/winograd_tile.h"
#include "cpu/simd/isa.h"
#include "cpu_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

using convolution::WinogradForm;
using convolution::winogradFunctions;

// Transforms round: of operands whose plain sums are exact, the sums are close.
constexpr double kClose = 1e-5;

TEST(WinogradConvolution, EveryBorderOfTheImage) {
  for (const int64_t padding : {0, 1, 2}) {
    // Large images in tiles of 4x4 outputs, small ones in tiles of 2x2; from where on depends on the vectors.
    for (const std::vector<int64_t>& size :
         {std::vector<int64_t>{16, 16}, {15, 17}, {30, 9}, {30, 29}, {13, 12}, {12, 13}}) {
      check("winograd",
            {.input = {1, 64, size[0], size[1]},
             .kernel = {80, 64, 3, 3},
             .pre_padding = {padding, padding},
             .post_padding = {padding, padding}},
            kClose);
    }
  }
  check("winograd", {.input = {3, 64, 9, 9}, .kernel = {64, 64, 3, 3}, .pre_padding = {1, 0}, .post_padding = {0, 2}},
        kClose);
}

TEST(WinogradConvolution, EveryBorderOfTheImageByStrides) {
  for (const int64_t padding : {0, 1, 2}) {
    for (const std::vector<int64_t>& size : {std::vector<int64_t>{48, 47}, {49, 52}, {46, 63}}) {
      check("winograd",
            {.input = {1, 128, size[0], size[1]},
             .kernel = {112, 128, 3, 3},
             .stride = {2, 2},
             .pre_padding = {padding, padding},
             .post_padding = {padding, padding}},
            kClose);
    }
  }
  check("winograd",
        {.input = {3, 128, 30, 31},
         .kernel = {96, 128, 3, 3},
         .stride = {2, 2},
         .pre_padding = {1, 0},
         .post_padding = {0, 2}},
        kClose);
}

TEST(WinogradConvolution, AnyMultipleOf16Channels) {
  for (const int64_t channels : {16, 32, 48, 112}) {
    for (const int64_t outputs : {32, 48, 96}) {
      check("winograd", {.input = {1, channels, 20, 21}, .kernel = {outputs, channels, 3, 3}}, kClose);
    }
  }
}

TEST(WinogradConvolution, BiasResidualAndActivation) {
  for (const int64_t size : {10, 29}) {
    for (const char* activation :
         {"", "activation=\"relu\", ", "activation=\"hard_swish\", ", "activation=\"silu\", "}) {
      for (const bool residual : {false, true}) {
        Convolution convolution = {.input = {1, 64, size, 28}, .kernel = {64, 64, 3, 3}};
        convolution.pre_padding = convolution.post_padding = {1, 1};
        convolution.activation = activation;
        convolution.residual = residual;
        convolution.bias = residual;
        check("winograd", convolution, kClose);
      }
    }
  }
}

void checkSquare(int64_t size, int64_t stride, const CompareOptions& options) {
  for (const bool residual : {false, true}) {
    Convolution convolution = {.input = {1, 64, size, size}, .kernel = {96, 64, 3, 3}, .stride = {stride, stride}};
    convolution.pre_padding = convolution.post_padding = {1, 1};
    convolution.residual = convolution.bias = residual;
    expectMatchesReference(toText(convolution), "winograd", options);
  }
}

constexpr int64_t kSmall = 11;    // in tiles of 2x2 outputs
constexpr int64_t kStrided = 60;  // large enough for stride 2

// A small image in tiles of 2x2 outputs, and larger ones in tiles of 4x4.
void checkPlain(const CompareOptions& options) {
  for (const int64_t size : {kSmall, int64_t{28}, int64_t{30}}) {
    checkSquare(size, 1, options);
  }
}

void checkValues(const CompareOptions& options) {
  checkPlain(options);
  checkSquare(kStrided, 2, options);
}

TEST(WinogradConvolution, InfinitiesAndNanStayInTheirWindows) {
  checkValues({.values = Values::kSomeNan, .constants = Values::kSmooth});
  checkValues({.values = Values::kSpecial, .constants = Values::kSmooth});
}

TEST(WinogradConvolution, OutliersStayInTheirWindows) {
  checkPlain({.values = Values::kOutliers, .constants = Values::kSmooth, .rtol = 1e-4});
  // A sum that holds 1e9 by a weight of 0.002 is as exact as those that hold it by one of 4: to 3e-7 of the largest.
  checkSquare(kStrided, 2, {.values = Values::kOutliers, .constants = Values::kSmooth, .rtol = 1e-3});
}

TEST(WinogradConvolution, OutliersUnderTapsOfZeroDoNotShow) {
  checkValues({.values = Values::kOutliers, .constants = Values::kPruned, .rtol = 1e-4});
}

TEST(WinogradConvolution, NothingStaysNothing) {
  checkValues({.values = Values::kSparse, .constants = Values::kExact, .rtol = 0, .atol = 0});
}

TEST(WinogradConvolution, SmallTilesAddNoRounding) {
  // Multiples of 1/8 become multiples of 1/256 in tiles of 2x2, and float32 holds these: sums are the reference's to
  // the bit.
  isaCap();  // is applied when it is first asked for
  if (winogradFunctions(WinogradForm::kSmall).lanes < 8) {
    GTEST_SKIP() << "short vectors take tiles of 4x4 even here";
  }
  const CompareOptions exact = {.values = Values::kExact, .constants = Values::kExact, .rtol = 0, .atol = 0};
  checkSquare(kSmall, 1, exact);
  checkSquare(kStrided, 2, exact);
}

TEST(WinogradConvolution, AsExactAsThePlainSum) {
  CompareOptions options;
  options.values = Values::kSmooth;
  for (const auto& [channels, stride] :
       std::vector<std::pair<int64_t, int64_t>>{{64, 1}, {256, 1}, {512, 1}, {128, 2}, {512, 2}}) {
    const Convolution convolution = {.input = {1, channels, 28 * stride, 28 * stride},
                                     .kernel = {channels, channels, 3, 3},
                                     .stride = {stride, stride},
                                     .pre_padding = {1, 1},
                                     .post_padding = {1, 1}};
    expectMatchesReference(toText(convolution), "winograd", options);
  }
}

TEST(WinogradConvolution, FewChannelsAreSummedInShortRuns) {
  const Convolution convolution = {
      .input = {1, 32, 112, 112}, .kernel = {32, 32, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}};
  // Runs of 32 are 1.1e-6 to 1.2e-6 off, runs of 8 at most 0.9e-6.
  expectMatchesReference(toText(convolution), "winograd", {.values = Values::kSmooth, .rtol = 0, .atol = 1e-6});
}

TEST(WinogradConvolution, ManyShapesWithOneKernel) {
  Convolution convolution = {.input = {2, 64, 14, 14}, .kernel = {64, 64, 3, 3}, .dynamic = true};
  convolution.pre_padding = convolution.post_padding = {1, 1};
  CompareOptions options;
  for (const std::vector<int64_t>& input :
       std::vector<std::vector<int64_t>>{{0, 64, 14, 14}, {1, 64, 1, 1}, {1, 64, 3, 2}, {5, 64, 8, 31}}) {
    Convolution other = convolution;
    other.input = input;
    options.shapes.push_back(toText(other));
  }
  expectMatchesReference(toText(convolution), "winograd", options);
}

// Kernels of 2 MiB or more in the form are held plain, and brought to it in every call.
std::vector<Convolution> largeOnes() {
  std::vector<Convolution> all;
  for (const auto& [channels, outputs, size, stride] :
       std::vector<std::array<int64_t, 4>>{{272, 208, 14, 1}, {256, 256, 7, 1}, {144, 112, 26, 1}, {256, 144, 29, 2}}) {
    Convolution convolution = {
        .input = {1, channels, size, size}, .kernel = {outputs, channels, 3, 3}, .stride = {stride, stride}};
    convolution.pre_padding = convolution.post_padding = {1, 1};
    all.push_back(convolution);
  }
  return all;
}

TEST(WinogradConvolution, LargeKernels) {
  for (Convolution& convolution : largeOnes()) {
    check("winograd", convolution, kClose);
    convolution.residual = true;
    convolution.activation = "activation=\"relu\", ";
    check("winograd", convolution, kClose);
  }
}

TEST(WinogradConvolution, LargeKernelsForManyShapes) {
  for (const int64_t stride : {1, 2}) {
    const std::vector<int64_t> first = {1, 272, 14 * stride, 13 * stride};
    Convolution convolution = {.input = first, .kernel = {144, 272, 3, 3}, .stride = {stride, stride}, .dynamic = true};
    convolution.pre_padding = {1, 0};
    convolution.post_padding = {0, 2};
    CompareOptions options;
    for (const std::vector<int64_t>& input :
         std::vector<std::vector<int64_t>>{{0, 272, 9, 9}, {1, 272, 3, 3}, {5, 272, 2, 6}, {3, 272, 9, 8}}) {
      convolution.input = input;
      options.shapes.push_back(toText(convolution));
    }
    convolution.input = first;
    expectMatchesReference(toText(convolution), "winograd", options);
  }
}

TEST(WinogradConvolution, LargeKernelsSumTilesWithOutliersPlainly) {
  for (const Convolution& convolution : largeOnes()) {
    const std::string text = toText(convolution);
    expectMatchesReference(text, "winograd", {.values = Values::kSomeNan, .constants = Values::kSmooth});
    expectMatchesReference(text, "winograd", {.values = Values::kOutliers, .constants = Values::kPruned, .rtol = 1e-4});
    expectMatchesReference(text, "winograd", {.values = Values::kOutliers, .constants = Values::kSmooth, .rtol = 1e-3});
  }
}

// Few groups, which threads share, and many or small ones, which they take.
TEST(WinogradConvolution, Groups) {
  for (const int64_t groups : {2, 3, 12}) {
    for (const int64_t stride : {1, 2}) {
      const Convolution convolution = {.input = {2, 48 * groups, 21, 18},
                                       .kernel = {32 * groups, 48, 3, 3},
                                       .stride = {stride, stride},
                                       .pre_padding = {1, 1},
                                       .post_padding = {1, 1},
                                       .groups = groups,
                                       .bias = groups != 3,
                                       .residual = groups != 2,
                                       .activation = "activation=\"relu\", "};
      check("winograd", convolution, kClose);
    }
  }
  expectMatchesReference(toText({.input = {1, 128, 28, 28}, .kernel = {64, 64, 3, 3}, .groups = 2}), "winograd",
                         {.values = Values::kSomeNan, .constants = Values::kSmooth});
  check("winograd", {.input = {1, 192, 8, 8}, .kernel = {192, 64, 3, 3}, .groups = 3, .dynamic = true}, kClose);
  check("winograd", {.input = {1, 192, 14, 14}, .kernel = {192, 64, 3, 3}, .groups = 3}, kClose);
  expectMatchesReference(toText({.input = {1, 128, 28, 28}, .kernel = {64, 64, 3, 3}, .groups = 2, .dynamic = true}),
                         "winograd",
                         {.rtol = kClose,
                          .shapes = {toText({.input = {0, 128, 28, 28}, .kernel = {64, 64, 3, 3}, .groups = 2}),
                                     toText({.input = {3, 128, 6, 9}, .kernel = {64, 64, 3, 3}, .groups = 2})}});
  check("winograd", {.input = {1, 512, 20, 20}, .kernel = {512, 256, 3, 3}, .groups = 2}, kClose);  // large kernels
}

TEST(WinogradConvolution, RefusesWhatOthersDoFasterOrExactly) {
  const auto refused = [](const Convolution& convolution, const char* code) {
    expectRefused(toText(convolution), "winograd", code);
  };
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 5, 5}}, "kernel");
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}, .stride = {1, 2}}, "kernel");
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}, .stride = {3, 3}}, "kernel");
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}, .dilation = {2, 2}}, "kernel");
  refused({.input = {1, 16, 28, 28}, .kernel = {128, 8, 3, 3}, .groups = 2}, "channels");
  refused({.input = {1, 128, 28, 28}, .kernel = {16, 64, 3, 3}, .groups = 2}, "channels");
  refused({.input = {1, 128, 4, 4}, .kernel = {128, 64, 3, 3}, .groups = 2}, "slower");
  refused({.input = {1, 72, 28, 28}, .kernel = {64, 72, 3, 3}}, "channels");
  refused({.input = {1, 8, 28, 28}, .kernel = {64, 8, 3, 3}}, "channels");
  refused({.input = {1, 64, 4, 4}, .kernel = {64, 64, 3, 3}}, "slower");
  refused({.input = {1, 64, 8, 8}, .kernel = {64, 64, 3, 3}, .stride = {2, 2}}, "slower");
  refused({.input = {1, 512, 14, 14}, .kernel = {512, 512, 3, 3}, .stride = {2, 2}}, "slower");  // few tiles a kernel
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}, .input_order = ""}, "memory-order");
  expectRefused(toText({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}}), "winograd", "weights", Values::kSomeNan);
  expectRefused(toText({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}}), "winograd", "integers", Values::kSparse);
}

}  // namespace
}  // namespace torchtrt::kernels
