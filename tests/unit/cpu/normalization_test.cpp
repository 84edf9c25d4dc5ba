#include <gtest/gtest.h>

#include <cmath>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

Case normalization(const std::string& mode, double eps, DType dtype, const Ints& dims, const Values& in) {
  return {
      "normalization", makeAttributes({{"mode", mode}, {"eps", eps}}), {makeTensor(dtype, dims, in)}, {{dtype, dims}}};
}

void addParameters(Case& layer, DType dtype, const Ints& dims, const std::vector<Values>& parameters) {
  for (const Values& values : parameters) {
    layer.inputs.push_back(values.empty() ? std::nullopt : std::optional(makeTensor(dtype, dims, values)));
  }
}

TEST(Normalization, BatchUsesTheGivenStatistics) {
  for (const DType dtype : kFloatingDTypes) {
    // Channel 0: (x - 1) / 2 * 3 + 10; channel 1: (x - 2) / 0.5 * 1 - 1.
    Case layer = normalization("batch", 0.25, dtype, {1, 2, 2}, {1, 3, 2, 4});
    addParameters(layer, dtype, {2}, {{3, 1}, {10, -1}, {1, 2}, {3.75, 0}});
    expectOutputs(layer, {{10, 13, -1, 3}});
    layer.inputs[1] = layer.inputs[2] = std::nullopt;
    expectOutputs(layer, {{0, 1, 0, 4}});
  }
}

TEST(Normalization, BatchOfRankTwoWithActivation) {
  Case layer = normalization("batch", 0, DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  addParameters(layer, DType::kFloat32, {2}, {{}, {}, {2, 2}, {1, 4}});
  layer.attributes.set("activation", "relu");
  expectOutputs(layer, {{0, 0, 1, 1}});
}

TEST(Normalization, BatchOfManyChannelsInEveryLayout) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    const Values in = mixedValues(2 * 16 * 3 * 2, dtype, 1);
    Values scale, bias, mean, variance, out;
    for (int channel = 0; channel < 16; ++channel) {
      scale.push_back(channel % 3 + 1);
      bias.push_back(channel % 5 - 2);
      mean.push_back(channel % 4 * 0.5);
      variance.push_back(channel % 2 == 0 ? 1 : 4);
    }
    for (size_t i = 0; i < in.size(); ++i) {
      const size_t channel = i / 6 % 16;
      out.push_back((in[i] - mean[channel]) / std::sqrt(variance[channel]) * scale[channel] + bias[channel]);
    }
    expectOutputs({"normalization",
                   makeAttributes({{"mode", "batch"}, {"eps", 0.0}}),
                   {makeTensor(dtype, {2, 16, 3, 2}, in), makeTensor(dtype, {16}, scale), makeTensor(dtype, {16}, bias),
                    makeTensor(dtype, {16}, mean), makeTensor(dtype, {16}, variance)},
                   {{dtype, {2, 16, 3, 2}}}},
                  {out});
  }
}

TEST(Normalization, LayerNormalisesTheLastDims) {
  for (const DType dtype : kFloatingDTypes) {
    Case layer = normalization("layer", 0, dtype, {2, 2}, {1, 3, 10, 6});
    expectOutputs(layer, {{-1, 1, 1, -1}});
    addParameters(layer, dtype, {2}, {{2, 4}, {0.5, 0}});
    expectOutputs(layer, {{-1.5, 4, 2.5, -4}});
  }
  Case two_dims = normalization("layer", 0, DType::kFloat64, {2, 1, 2, 2}, {0, 0, 4, 4, 1, 3, 3, 1});
  two_dims.attributes.set("normalized_rank", 2);
  expectOutputs(two_dims, {{-1, -1, 1, 1, -1, 1, 1, -1}});
}

TEST(Normalization, InstanceAndGroup) {
  // Per channel 1, 3 and 5, 9; both channels as one group: mean 4.5, variance 8.75.
  for (const DType dtype : kFloatingDTypes) {
    Case layer = normalization("instance", 0, dtype, {1, 2, 2}, {1, 3, 5, 9});
    addParameters(layer, dtype, {2}, {{1, 2}, {0, 1}});
    expectOutputs(layer, {{-1, 1, -1, 3}});
  }
  const double deviation = std::sqrt(8.75);
  Case group = normalization("group", 0, DType::kFloat64, {1, 2, 2}, {1, 3, 5, 9});
  group.attributes.set("groups", 1);
  addParameters(group, DType::kFloat64, {2}, {{1, 2}, {}});
  expectOutputs(group, {{-3.5 / deviation, -1.5 / deviation, 1 / deviation, 9 / deviation}});
  group.attributes.set("groups", 2);
  expectOutputs(group, {{-1, 1, -2, 2}});
}

TEST(Normalization, GroupsAreIndependentOfEachOther) {
  const Values in = mixedValues(2 * 6 * 3 * 5, DType::kFloat64);
  Case layer = normalization("group", 1e-3, DType::kFloat64, {2, 6, 3, 5}, in);
  layer.attributes.set("groups", 3);
  const Values out = runOne(layer);
  constexpr size_t kGroup = 2 * 3 * 5;
  for (size_t start = 0; start < out.size(); start += kGroup) {
    double mean = 0, variance = 0;
    for (size_t i = start; i < start + kGroup; ++i) {
      mean += in[i] / kGroup;
    }
    for (size_t i = start; i < start + kGroup; ++i) {
      variance += (in[i] - mean) * (in[i] - mean) / kGroup;
    }
    for (size_t i = start; i < start + kGroup; ++i) {
      ASSERT_NEAR(out[i], (in[i] - mean) / std::sqrt(variance + 1e-3), 1e-12);
    }
  }
  expectOutputs(layer, {out}, 1e-13);
}

TEST(Normalization, RootMeanSquareKeepsTheMean) {
  Case layer = normalization("rms", 0, DType::kFloat64, {2, 2}, {3, 3, 1, -1});
  addParameters(layer, DType::kFloat64, {2}, {{1, 5}});
  expectOutputs(layer, {{1, 5, 1, -5}});
}

TEST(Normalization, VarianceIsTakenInTwoPasses) {
  Case layer = normalization("layer", 0, DType::kFloat32, {4}, {16777212, 16777212, 16777216, 16777216});
  expectOutputs(layer, {{-1, -1, 1, 1}});
}

TEST(Normalization, EmptyTensors) {
  Case batch = normalization("batch", 1e-5, DType::kFloat32, {0, 2, 3}, {});
  addParameters(batch, DType::kFloat32, {2}, {{}, {}, {0, 0}, {1, 1}});
  expectOutputs(batch, {{}});
  expectOutputs(normalization("layer", 1e-5, DType::kFloat32, {3, 0}, {}), {{}});
  expectOutputs(normalization("instance", 1e-5, DType::kFloat32, {2, 0, 3}, {}), {{}});
}

TEST(Normalization, RefusesIntegers) {
  EXPECT_THROW(run(normalization("layer", 1e-5, DType::kInt32, {2}, {1, 2})), InternalError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
