// Convolutions as products of patches: when, and which product the library is asked for.
#include <gtest/gtest.h>

#include "cpu/harness.h"
#include "cuda/against_reference.h"
#include "cuda/emulation.h"
#include "cuda/fake_cublaslt.h"

namespace torchtrt::cuda::testing {
namespace {

using kernels::testing::Case;
using kernels::testing::Ints;
using kernels::testing::Layout;
using kernels::testing::makeAttributes;
using kernels::testing::makeTensor;
using kernels::testing::problemOf;
using kernels::testing::Values;

// [1,1,1,5] by a window of 1 x 2 to [1,2,1,2]; the last place of the image is left over.
Case patches() {
  const DType dtype = DType::kFloat16;
  return {"convolution",
          makeAttributes({{"stride", Ints{1, 2}},
                          {"pre_padding", Ints{0, 0}},
                          {"post_padding", Ints{0, 0}},
                          {"dilation", Ints{1, 1}}}),
          {makeTensor(dtype, {1, 1, 1, 5}, {1, 2, 3, 4, 5}), makeTensor(dtype, {2, 1, 1, 2}, {1, 0, 0, 1}),
           makeTensor(dtype, {2}, {10, 20})},
          {{dtype, {1, 2, 1, 2}}}};
}

// The implementation that the rules choose where the output has its channels last.
std::string chosenFor(const Case& layer, bool channels_last = true) {
  kernels::Problem problem = problemOf(layer);
  if (channels_last) {
    problem.outputs.at(0).order = {0, 2, 3, 1};
  }
  return kernels::createKernel(problem).implementation;
}

TEST(Patches, AreRowsOfAMatrix) {
  EXPECT_EQ(chosenFor(patches()), "patches");
  if (isEmulated()) {
    fakeCublasLt() = {};
    kernels::testing::run(patches(), Layout::kChannelsLast);
    EXPECT_EQ(fakeCublasLt().calls, "bias float16 1x[2,2,2]");
  }
  kernels::testing::expectOutputs(patches(), {{11, 13, 22, 24}});
}

// Rows of eight places and more are written 16 bytes at once, from images whose pixels lie a few channels apart, too.
TEST(Patches, ImagesOfEveryLayout) {
  const DType dtype = DType::kFloat16;
  for (const int64_t channels : {1, 3, 5}) {
    for (const int64_t width : {2, 8, 16}) {
      Case layer = patches();
      layer.attributes.set("stride", Ints{2, width});
      layer.inputs = {
          makeTensor(dtype, {2, channels, 5, 3 * width + 1},
                     kernels::testing::mixedValues(2 * channels * 5 * (3 * width + 1), dtype)),
          makeTensor(dtype, {4, channels, 2, width}, kernels::testing::mixedValues(4 * channels * 2 * width, dtype, 2)),
          makeTensor(dtype, {4}, {1, 2, 3, 4})};
      layer.outputs = {{dtype, {2, 4, 2, 3}}};
      EXPECT_EQ(chosenFor(layer), "patches");
      kernels::testing::expectAsOnCpu(layer);
    }
  }
}

TEST(Patches, OutputsOfOtherOrdersAreLeftToOthers) {
  EXPECT_NE(chosenFor(patches(), false), "patches");
}

TEST(Patches, WindowsThatOverlapOrReachBeyondAreLeftToOthers) {
  for (const char* const name : {"stride", "pre_padding", "post_padding"}) {
    Case layer = patches();
    layer.attributes.set(name, Ints{1, 1});
    EXPECT_NE(chosenFor(layer), "patches") << name;
  }
  Case layer = patches();
  layer.attributes.set("dilation", Ints{1, 2});
  EXPECT_NE(chosenFor(layer), "patches");
}

TEST(Patches, EpiloguesAreLeftToOthers) {
  Case layer = patches();
  layer.attributes.set("activation", std::string("relu"));
  EXPECT_NE(chosenFor(layer), "patches");
  layer = patches();
  layer.inputs.emplace_back(makeTensor(DType::kFloat16, {1, 2, 1, 2}, {1, 2, 3, 4}));
  EXPECT_NE(chosenFor(layer), "patches");
}

TEST(Patches, ManyChannelsAreLeftToCudnn) {
  Case layer = patches();
  layer.inputs[0] = makeTensor(DType::kFloat16, {1, 8, 1, 5}, Values(40, 1.0));
  layer.inputs[1] = makeTensor(DType::kFloat16, {2, 8, 1, 2}, Values(32, 1.0));
  EXPECT_NE(chosenFor(layer), "patches");
}

}  // namespace
}  // namespace torchtrt::cuda::testing
