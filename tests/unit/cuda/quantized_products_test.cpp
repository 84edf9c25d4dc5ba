// Products of int8 and uint8 on tensor cores: every result has the bits of the CPU's reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/emulation.h"
#include "cuda/quantized_cases.h"

namespace torchtrt::kernels::testing {
namespace {

void expectBits(const Case& layer) {
  const bool is_image = layer.family == "quantized_convolution";
  const Problem problem = withConstants(layer, is_image);
  EXPECT_EQ(createKernel(problem).implementation, std::string("tensor_cores")) << problem.toString();
  const Values expected = referenceOf(layer).at(0);
  const Layout good = is_image ? Layout::kChannelsLast : Layout::kRowMajor;
  const Layout other = is_image ? Layout::kRowMajor : Layout::kColumnMajor;
  for (const auto& [in, out, skipped] :
       {std::tuple{good, good, size_t{0}}, std::tuple{good, other, size_t{1}}, std::tuple{other, good, size_t{0}},
        std::tuple{Layout::kWithGaps, other, size_t{0}}}) {
    EXPECT_EQ(resultOf(problem, "tensor_cores", layer, in, out, skipped), expected) << problem.toString();
  }
}

TEST(QuantizedOnTensorCores, ProductsOfEverySize) {
  for (const int64_t rows : {1, 16, 33, 70}) {
    for (const int64_t columns : {8, 24, 72}) {
      expectBits(quantizedProduct({DType::kInt8, 0}, {rows}, 144, columns));
    }
  }
  for (const int64_t depth : {16, 64, 80, 528}) {
    expectBits(quantizedProduct({DType::kUInt8, 131}, {2, 9}, depth, 40, kToBytes));
  }
}

TEST(QuantizedOnTensorCores, WithEverythingBehindTheSums) {
  for (const DType to : {DType::kFloat32, DType::kInt8, DType::kUInt8}) {
    for (const DType residual : {DType::kBool, DType::kFloat32, DType::kInt8, DType::kUInt8}) {
      for (const bool bias : {false, true}) {
        expectBits(quantizedProduct({DType::kUInt8, 3}, {18}, 48, 16, {to, bias, residual, bias ? "relu" : ""}));
      }
    }
  }
}

// Blocks of a cluster share the depth.
TEST(QuantizedOnTensorCores, OfSharedDepth) {
  for (const int64_t rows : {9, 50}) {
    expectBits(quantizedProduct({DType::kUInt8, 9}, {rows}, 3344, 40, kToBytes));
  }
}

// Large products have tiles of their own, where a thread finishes its own sums if they become bytes.
TEST(QuantizedOnTensorCores, OfManyRows) {
  const auto runsAsInEngine = [](const Case& layer) {
    EXPECT_EQ(resultOf(withConstants(layer, false), "tensor_cores", layer, Layout::kRowMajor, Layout::kRowMajor, 0),
              referenceOf(layer).at(0));
  };
  runsAsInEngine(quantizedProduct({DType::kUInt8, 9}, {100 * 128 + 3}, 80, 64, kToBytes));
  runsAsInEngine(quantizedProduct({DType::kInt8, -7}, {50 * 64 + 3}, 16, 256, {DType::kInt8, false}));
  runsAsInEngine(quantizedProduct({DType::kUInt8, 0}, {100 * 128 + 3}, 16, 128, {DType::kFloat32, true, DType::kInt8}));
  runsAsInEngine(quantizedProduct({DType::kUInt8, 131}, {100 * 64 + 3}, 16, 64, {DType::kUInt8, true, DType::kUInt8}));
  const std::vector<std::string> texts = cuda::testing::compiledTexts();
  EXPECT_TRUE(!cuda::testing::isEmulated() || std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    return text.find("kBytePitch") != std::string::npos;
  }));
}

TEST(QuantizedOnTensorCores, ConvolutionsOfEveryWindow) {
  for (const Window& window : {Window{}, Window{{1, 1}, {1, 1}, {0, 0}, {1, 1}}, Window{{1, 1}, {2, 2}, {0, 0}, {1, 1}},
                               Window{{3, 3}, {2, 2}, {1, 1}, {1, 1}}, Window{{5, 2}, {1, 3}, {2, 0}, {1, 1}},
                               Window{{3, 3}, {1, 1}, {2, 2}, {2, 2}}}) {
    expectBits(quantized({DType::kUInt8, 0}, 32, 24, window));
    expectBits(quantized({DType::kUInt8, 200}, 16, 8, window, kToBytes));  // padding of other than zeros
  }
}

// Windows become rows of a matrix first where channels are no sixteens.
TEST(QuantizedOnTensorCores, ConvolutionsOfEveryNumberOfChannels) {
  for (const int64_t channels : {1, 3, 8, 24, 48}) {
    expectBits(quantized({DType::kInt8, -5}, channels, 16, {}, kToBytes));
    expectBits(quantized({DType::kUInt8, 77}, channels, 8, {{7, 5}, {2, 2}, {3, 2}, {1, 1}}));
    expectBits(quantized({DType::kUInt8, 0}, channels, 8, {{1, 1}, {1, 1}, {0, 0}, {1, 1}}));
    expectBits(quantized({DType::kUInt8, 0}, channels, 8, {{3, 3}, {2, 1}, {2, 2}, {2, 2}}));
  }
}

// Sums of the most that 32 bits hold, and zero points that make the sum before their correction larger.
TEST(QuantizedOnTensorCores, LargestSums) {
  constexpr int64_t kDepth = 65792;
  for (const int64_t zero_point : {0, 255}) {
    Case layer = quantizedProduct({DType::kUInt8, zero_point}, {2}, kDepth, 8, {DType::kFloat32, false});
    layer.inputs[0] = makeTensor(DType::kUInt8, {2, kDepth}, Values(2 * kDepth, static_cast<double>(255 - zero_point)));
    layer.inputs[1] = makeTensor(DType::kInt8, {kDepth, 8}, Values(8 * kDepth, -128));
    expectBits(layer);
  }
}

TEST(QuantizedOnTensorCores, NotOfOtherLayers) {
  const auto chosen = [](const Case& layer) { return createKernel(withConstants(layer, false)).implementation; };
  EXPECT_STREQ(chosen(quantizedProduct({}, {4}, 32, 12)), "tiled");
  EXPECT_STREQ(chosen(quantizedProduct({}, {4}, 40, 16)), "tiled");
  EXPECT_STREQ(createKernel(problemOf(quantizedProduct({}, {4}, 32, 16))).implementation, "tiled");
  EXPECT_STREQ(chosen(quantized({}, 16, 12, {})), "direct");
  Case groups = quantized({}, 32, 16, {});
  groups.attributes.set("groups", int64_t{2});
  groups.inputs[1] = stepsOf(DType::kInt8, {16, 16, 3, 3}, 2);
  EXPECT_STREQ(chosen(groups), "direct");
}

TEST(QuantizedOnTensorCores, OfNothing) {
  const Case layer = quantizedProduct({}, {0}, 32, 16);
  EXPECT_EQ(resultOf(withConstants(layer, false), "tensor_cores", layer, Layout::kRowMajor, Layout::kRowMajor, 0),
            Values());
}

}  // namespace
}  // namespace torchtrt::kernels::testing
