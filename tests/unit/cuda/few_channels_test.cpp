// Convolutions of images of fewer than eight channels.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "cuda/image_convolutions.h"

namespace torchtrt::kernels::testing {
namespace {

TEST(FewChannels, OfEveryWindow) {
  for (const Window& window : {Window{}, Window{{7, 7}, {2, 2}, {3, 3}, {1, 1}}, Window{{3, 3}, {2, 2}, {0, 0}, {1, 1}},
                               Window{{2, 5}, {1, 3}, {1, 0}, {1, 1}}, Window{{3, 3}, {1, 2}, {2, 1}, {2, 1}},
                               Window{{1, 1}, {2, 2}, {0, 0}, {1, 1}}, Window{{6, 9}, {1, 1}, {0, 0}, {1, 1}}}) {
    expectConvolution("few_channels", convolution(DType::kFloat16, 3, 16, window));
  }
}

TEST(FewChannels, OfEveryNumberOfThem) {
  for (const int64_t channels : {1, 2, 4, 5, 7}) {
    for (const int64_t stride : {1, 2}) {
      const Window window = {{3, 3}, {stride, stride}, {1, 1}, {1, 1}};
      expectConvolution("few_channels", convolution(DType::kBFloat16, channels, 8, window, {true, true, "hard_swish"}));
    }
  }
}

TEST(FewChannels, WithScale) {
  for (const bool beside : {false, true}) {
    expectConvolution("few_channels", convolution(DType::kBFloat16, 3, 24, {}, {beside, beside, "relu", true}));
  }
}

TEST(FewChannels, BlocksOfSeveralLinesAndSegments) {
  const Window halved = {{3, 3}, {2, 2}, {1, 1}, {1, 1}};
  expectConvolution("few_channels", convolution(DType::kFloat16, 3, 24, halved, {true, true, "relu"}, {40, 38, 9}));
  expectConvolution("few_channels", convolution(DType::kFloat16, 1, 16, Window{}, {}, {1, 3, 300}));
  expectConvolution("few_channels", convolution(DType::kFloat16, 3, 96, halved, {}, {1, 5, 270}));
}

// Elements behind the last window of a line have weights of zero: infinity there must not become NaN.
TEST(FewChannels, WindowsReadNothingBesideTheImage) {
  Case layer = convolution(DType::kFloat16, 3, 8, {{3, 3}, {2, 2}, {0, 0}, {1, 1}});
  Values values = layer.inputs[0]->values();
  for (size_t i = 0; i < values.size(); i += 9) {
    values[i + 8] = std::numeric_limits<double>::infinity();  // the last column
  }
  layer.inputs[0] = makeTensor(DType::kFloat16, layer.inputs[0]->desc.dims, values);
  const Values expected = referenceOf(layer).at(0);
  const Values result = resultOf(asInEngine(layer), "few_channels", layer, Layout::kRowMajor, Layout::kRowMajor, 0);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isfinite(expected[i])) {
      ASSERT_NEAR(result[i], expected[i], 0.1) << "element " << i;
    } else {
      ASSERT_FALSE(std::isfinite(result[i])) << "element " << i;
    }
  }
}

TEST(FewChannels, NotOfOtherLayers) {
  const auto chosen = [](const Case& layer) { return std::string(createKernel(asInEngine(layer)).implementation); };
  EXPECT_NE(chosen(convolution(DType::kFloat32, 3, 8, {})), "few_channels");
  EXPECT_NE(chosen(convolution(DType::kFloat16, 8, 8, {})), "few_channels");
  EXPECT_NE(chosen(convolution(DType::kFloat16, 3, 12, {})), "few_channels");
  EXPECT_NE(chosen(convolution(DType::kFloat16, 3, 8, {{3, 3}, {1, 1}, {1, 2}, {1, 2}})), "few_channels");
  EXPECT_NE(chosen(convolution(DType::kFloat16, 3, 8, {{3, 3}, {3, 3}, {0, 0}, {1, 1}})), "few_channels");  // patches
  const Case layer = convolution(DType::kFloat16, 3, 8, {});
  Problem problem = asInEngine(layer);
  problem.outputs[0].order.clear();  // row-major
  EXPECT_STRNE(createKernel(problem).implementation, "few_channels");
}

}  // namespace
}  // namespace torchtrt::kernels::testing
