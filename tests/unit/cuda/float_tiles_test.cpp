// Convolutions in float32 by tiles, without TF32: against the CPU's reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "cuda/emulation.h"
#include "cuda/image_convolutions.h"
#include "kernels/backend.h"

namespace torchtrt::kernels::testing {
namespace {

// The kernel agrees with the CPU's reference in every layout.
void expectByTiles(const Case& layer) {
  const Values expected = referenceOf(layer).at(0);
  for (const auto& [in, out, skipped] : {std::tuple{Layout::kChannelsLast, Layout::kChannelsLast, size_t{0}},
                                         std::tuple{Layout::kChannelsLast, Layout::kRowMajor, size_t{1}},
                                         std::tuple{Layout::kRowMajor, Layout::kChannelsLast, size_t{0}},
                                         std::tuple{Layout::kWithGaps, Layout::kRowMajor, size_t{0}}}) {
    const Values values = resultOf(asInEngine(layer), "tiles", layer, in, out, skipped);
    expectNear(values, expected, toleranceOf(DType::kFloat32), asInEngine(layer).toString());
  }
}

bool wasCompiledWith(const std::string& rows, const std::string& columns) {
  const std::vector<std::string> texts = cuda::testing::compiledTexts();
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
    return has("kRowsOfThread") && has("#define ROWS " + rows + "\n") && has("#define COLUMNS " + columns + "\n");
  });
}

TEST(FloatTiles, OfEveryWindow) {
  for (const Window& window : {Window{}, Window{{1, 1}, {1, 1}, {0, 0}, {1, 1}}, Window{{1, 1}, {2, 2}, {0, 0}, {1, 1}},
                               Window{{3, 3}, {2, 2}, {1, 1}, {1, 1}}, Window{{5, 2}, {1, 3}, {2, 0}, {1, 1}},
                               Window{{3, 3}, {1, 1}, {2, 2}, {2, 2}}}) {
    expectByTiles(convolution(DType::kFloat32, 20, 24, window));
  }
}

TEST(FloatTiles, OfEveryNumberOfChannels) {
  for (const int64_t channels : {4, 12, 72}) {
    for (const int64_t outputs : {1, 7, 66, 130}) {
      expectByTiles(convolution(DType::kFloat32, channels, outputs, {}));
    }
  }
}

TEST(FloatTiles, WithBiasResidualAndActivation) {
  for (const char* activation : {"", "relu", "gelu_erf", "hard_swish"}) {
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        expectByTiles(convolution(DType::kFloat32, 8, 12, {}, {bias, residual, activation}));
      }
    }
  }
}

TEST(FloatTiles, OfEveryTile) {
  const Ints images = {1, 128, 132};  // one tile of 128 rows for each of 132 multiprocessors
  const Window pixel{{1, 1}, {1, 1}, {0, 0}, {1, 1}};
  for (const auto& [outputs, rows, columns] :
       {std::tuple{40, "64", "64"}, std::tuple{60, "128", "64"}, std::tuple{250, "128", "128"}}) {
    const Case layer =
        convolution(DType::kFloat32, 8, outputs, pixel, {true, false, "relu"}, outputs == 40 ? Ints{1, 9, 9} : images);
    expectByTiles(layer);
    EXPECT_TRUE(!cuda::testing::isEmulated() || wasCompiledWith(rows, columns))
        << "no text of " << rows << " x " << columns;
  }
}

// The tile decides nothing about the order of a sum.
TEST(FloatTiles, ARowHasItsBitsInEveryBatch) {
  const Window window;
  const Case many = convolution(DType::kFloat32, 8, 64, window, {}, {40, 16, 17});
  Case one = convolution(DType::kFloat32, 8, 64, window, {}, {1, 16, 17});
  const Values image = many.inputs[0]->values();
  const auto size = static_cast<std::ptrdiff_t>(countOf(one.inputs[0]->desc.dims));
  one.inputs[0] = makeTensor(DType::kFloat32, one.inputs[0]->desc.dims, Values(image.begin(), image.begin() + size));
  const auto run = [](const Case& layer) {
    return resultOf(asInEngine(layer), "tiles", layer, Layout::kChannelsLast, Layout::kChannelsLast, 0);
  };
  const Values of_many = run(many), of_one = run(one);
  EXPECT_TRUE(std::equal(of_one.begin(), of_one.end(), of_many.begin()));
}

TEST(FloatTiles, RefusesOtherLayers) {
  const auto refuses = [](const Case& layer) {
    return createKernel(asInEngine(layer), "tiles").implementation != std::string("tiles");
  };
  EXPECT_FALSE(refuses(convolution(DType::kFloat32, 8, 8, {})));
  EXPECT_TRUE(refuses(convolution(DType::kFloat16, 8, 8, {})));
  EXPECT_TRUE(refuses(convolution(DType::kFloat32, 6, 8, {})));
  Case tf32 = convolution(DType::kFloat32, 8, 8, {});
  tf32.attributes.set("tf32", true);
  EXPECT_TRUE(refuses(tf32));
  Case groups = convolution(DType::kFloat32, 8, 8, {});
  groups.inputs[1] = valuesOf(DType::kFloat32, {8, 4, 3, 3}, 2);
  groups.attributes.set("groups", int64_t{2});
  EXPECT_TRUE(refuses(groups));
}

TEST(FloatTiles, AreLeftToTiming) {
  EXPECT_STRNE(createKernel(asInEngine(convolution(DType::kFloat32, 64, 64, {}, {}, {8, 56, 56}))).implementation,
               "tiles");
}

}  // namespace
}  // namespace torchtrt::kernels::testing
