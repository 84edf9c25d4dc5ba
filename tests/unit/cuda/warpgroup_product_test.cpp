// Products by whole warpgroups: every result has the bits of the CPU's reference, whatever tile makes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cuda/emulation.h"
#include "cuda/quantized_cases.h"

namespace torchtrt::kernels::testing {
namespace {

// The tile of a text, as groups x columns x chunk; empty for a text of another kernel.
std::string tileIn(const std::string& text) {
  std::string tile;
  for (const char* const name : {"#define GROUPS ", "#define COLUMNS ", "#define CHUNK "}) {
    const size_t at = text.find(name);
    if (at == std::string::npos) {
      return "";
    }
    const size_t begin = at + std::string(name).size();
    tile += (tile.empty() ? "" : "x") + text.substr(begin, text.find('\n', begin) - begin);
  }
  return tile;
}

// `skipped`: elements in front of each operand, so that none begins where copies need it.
void expectBits(const Case& layer, const std::string& tile, size_t skipped = 0) {
  const bool is_image = layer.family == "quantized_convolution";
  const Problem problem = withConstants(layer, is_image);
  const Layout layout = is_image ? Layout::kChannelsLast : Layout::kRowMajor;
  EXPECT_EQ(resultOf(problem, "tensor_cores", layer, layout, layout, skipped), referenceOf(layer).at(0))
      << problem.toString();
  const std::vector<std::string> texts = cuda::testing::compiledTexts();
  EXPECT_TRUE(!cuda::testing::isEmulated() ||
              std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return tileIn(text) == tile; }))
      << "no text has the tile " << tile;
}

TEST(WarpgroupProducts, OfEveryTile) {
  expectBits(quantizedProduct({DType::kUInt8, 9}, {8439}, 80, 272, kToBytes), "1x128x128");
  expectBits(quantizedProduct({DType::kInt8, -7}, {6301}, 16, 272, {DType::kInt8, false}), "2x64x64");
  expectBits(quantizedProduct({DType::kUInt8, 131}, {6301}, 80, 272, {DType::kUInt8, true, DType::kUInt8}), "2x64x128");
  expectBits(quantizedProduct({DType::kUInt8, 0}, {8441}, 16, 256, {DType::kUInt8, true, DType::kInt8, "relu"}),
             "2x128x64");
  expectBits(quantizedProduct({DType::kInt8, 3}, {8441}, 80, 256, kToBytes), "2x128x128");
}

TEST(WarpgroupProducts, OfOperandsThatBeginAnywhere) {
  expectBits(quantizedProduct({DType::kInt8, 3}, {8441}, 80, 256, kToBytes), "2x128x128", 1);
  expectBits(quantized({DType::kUInt8, 0}, 48, 64, {}, kToBytes, {5, 45, 47}), "2x64x64", 1);
}

// A block makes one tile after the other; its stages go on from where the tile before ended.
TEST(WarpgroupProducts, OfMoreTilesThanBlocks) {
  expectBits(quantizedProduct({DType::kUInt8, 5}, {64 * 1300 + 7}, 16, 32, {DType::kUInt8, true, DType::kInt8}),
             "2x64x64");
  expectBits(quantizedProduct({DType::kUInt8, 5}, {64 * 900 + 7}, 80, 48, {DType::kInt8, true}), "2x64x128");
}

TEST(WarpgroupProducts, OfWindows) {
  const Ints images = {5, 45, 47};
  for (const Window& window : {Window{}, Window{{3, 3}, {2, 1}, {1, 1}, {1, 1}}, Window{{1, 1}, {1, 2}, {0, 0}, {1, 1}},
                               Window{{3, 2}, {1, 1}, {2, 1}, {2, 3}}}) {
    expectBits(quantized({DType::kUInt8, 0}, 48, 64, window, kToBytes, images), "2x64x64");
    expectBits(quantized({DType::kInt8, 0}, 96, 64, window, {DType::kInt8, false}, images), "2x64x128");
  }
  expectBits(quantized({DType::kUInt8, 77}, 64, 64, {{3, 3}, {1, 1}, {0, 0}, {1, 1}}, kToBytes, images), "2x64x64");
}

// Taps that lie side by side are one, as in the first layer of a network for images.
TEST(WarpgroupProducts, OfJoinedTaps) {
  expectBits(quantized({DType::kUInt8, 114}, 3, 64, {{7, 7}, {2, 2}, {3, 3}, {1, 1}}, kToBytes, {3, 190, 190}),
             "2x64x64");
}

// Other kernels take these: zeros of a zero point beside an image, and results that are no bytes.
TEST(WarpgroupProducts, NotOfOtherOperands) {
  const auto wereCompiled = [] {
    const std::vector<std::string> texts = cuda::testing::compiledTexts();
    return std::count_if(texts.begin(), texts.end(), [](const std::string& text) { return !tileIn(text).empty(); });
  };
  const auto before = wereCompiled();
  const auto run = [](const Case& layer) {
    const bool is_image = layer.family == "quantized_convolution";
    const Layout layout = is_image ? Layout::kChannelsLast : Layout::kRowMajor;
    EXPECT_EQ(resultOf(withConstants(layer, is_image), "tensor_cores", layer, layout, layout, 0),
              referenceOf(layer).at(0));
  };
  run(quantized({DType::kUInt8, 3}, 48, 32, {}, kToBytes, {3, 45, 47}));
  run(quantizedProduct({DType::kUInt8, 9}, {6301}, 80, 272, {DType::kFloat32}));
  run(quantizedProduct({DType::kUInt8, 9}, {6301}, 80, 272, {DType::kUInt8, true, DType::kFloat32}));
  run(quantizedProduct({DType::kUInt8, 9}, {6301}, 80, 280, kToBytes));
  EXPECT_EQ(wereCompiled(), before);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
