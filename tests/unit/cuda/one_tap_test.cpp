// Convolutions of one tap as products, and which convolutions go there.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cuda/against_reference.h"
#include "kernels/backend.h"

namespace torchtrt::kernels::testing {
namespace {

Case oneTap(DType dtype, int64_t channels, const char* activation, bool has_bias, bool has_residual,
            int64_t stride = 1) {
  const auto values = [dtype](const Ints& dims, uint32_t seed) {
    return makeTensor(dtype, dims, mixedValues(countOf(dims), dtype, seed));
  };
  const Ints out = {2, 24, 2 / stride + 1, 5 / stride};
  Case layer = {"convolution",
                makeAttributes({{"stride", Ints{stride, stride}},
                                {"pre_padding", Ints{0, 0}},
                                {"post_padding", Ints{0, 0}},
                                {"dilation", Ints{1, 1}},
                                {"activation", std::string(activation)}}),
                {values({2, channels, 3, 5}, 1), values({24, channels, 1, 1}, 2), std::nullopt, std::nullopt},
                {{dtype, out}}};
  if (has_bias) {
    layer.inputs[2] = values({24}, 3);
  }
  if (has_residual) {
    layer.inputs[3] = values(out, 4);
  }
  return layer;
}

std::string chosenFor(const Case& layer, bool channels_last = true) {
  Problem problem = problemOf(layer);
  if (channels_last) {
    problem.inputs[0].order = problem.outputs[0].order = {0, 2, 3, 1};
  }
  return createKernel(problem).implementation;
}

TEST(OneTap, WithBiasResidualAndActivation) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const int64_t channels : {3, 16}) {
      for (const char* activation : {"", "relu", "hard_swish"}) {
        expectAsOnCpu(oneTap(dtype, channels, activation, true, false));
        expectAsOnCpu(oneTap(dtype, channels, activation, false, true));
        expectAsOnCpu(oneTap(dtype, channels, activation, true, true));
      }
      expectAsOnCpu(oneTap(dtype, channels, "", false, false));
    }
  }
}

TEST(OneTap, WithScale) {
  for (const bool has_others : {false, true}) {
    Case layer = oneTap(DType::kBFloat16, 16, "hard_swish", has_others, has_others);
    if (has_others) {
      layer.inputs[2] = makeTensor(DType::kFloat32, {24}, mixedValues(24, DType::kFloat32, 3));
    }
    layer.inputs.emplace_back(makeTensor(DType::kFloat32, {24}, mixedValues(24, DType::kFloat32, 5)));
    EXPECT_EQ(chosenFor(layer), "one_tap");
    expectAsOnCpu(layer);
    layer.attributes.set("activation", "");
    EXPECT_NE(chosenFor(layer), "one_tap");  // cuDNN's epilogue
    expectAsOnCpu(layer);
  }
}

TEST(OneTap, GoesToTheLibraryOfProducts) {
  EXPECT_EQ(chosenFor(oneTap(DType::kFloat16, 16, "", true, true)), "one_tap");
  EXPECT_EQ(chosenFor(oneTap(DType::kBFloat16, 16, "hard_swish", true, false)), "one_tap");
  EXPECT_NE(chosenFor(oneTap(DType::kFloat16, 16, "relu", true, false)), "one_tap");  // cuDNN's epilogue
  Case clipped = oneTap(DType::kFloat16, 16, "clip", true, false);
  clipped.attributes.set("activation_beta", 6.0);
  EXPECT_NE(chosenFor(clipped), "one_tap");
  clipped.attributes.set("activation_alpha", -1.0);  // cuDNN clips from zero alone
  EXPECT_EQ(chosenFor(clipped), "one_tap");
  expectAsOnCpu(clipped);
  EXPECT_NE(chosenFor(oneTap(DType::kFloat32, 16, "", true, false)), "one_tap");
  EXPECT_NE(chosenFor(oneTap(DType::kFloat16, 16, "", true, false), false), "one_tap");
  EXPECT_NE(chosenFor(oneTap(DType::kFloat16, 16, "", true, false, 2)), "one_tap");
}

}  // namespace
}  // namespace torchtrt::kernels::testing
