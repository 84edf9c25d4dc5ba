// Rounds the weights of networks, and compares the text. Weights are chosen such that scales are short numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "quantization/group_rounding.h"
#include "quantization/weights.h"

namespace torchtrt::quantization {
namespace {

using ::testing::HasSubstr;

WeightOptions smallLayersToo(int64_t bits, int64_t group_size = 2) {
  WeightOptions options;
  options.bits = bits;
  options.group_size = group_size;
  options.min_weights = 0;
  return options;
}

void expectRounded(const std::string& before, const std::string& after, const WeightOptions& options) {
  const Quantized result = WeightRounding(*network::parse(before), options).round();
  network::verify(*result.network);
  EXPECT_EQ(network::print(*result.network), network::print(*network::parse(after)));
  for (const LayerChoice& choice : result.layers) {
    EXPECT_NE(choice.is_quantized, !choice.reason.empty()) << choice.layer << ": " << choice.reason;
  }
}

// The network stays as it is, and its one matrix multiplication says why.
void expectKept(const std::string& text, const std::string& reason, const WeightOptions& options = smallLayersToo(8)) {
  const WeightRounding rounding(*network::parse(text), options);
  EXPECT_FALSE(rounding.hasCandidates());
  const Quantized result = rounding.round();
  EXPECT_EQ(network::print(*result.network), network::print(*network::parse(text)));
  ASSERT_EQ(result.layers.size(), 1U);
  EXPECT_FALSE(result.layers[0].is_quantized);
  EXPECT_THAT(result.layers[0].reason, HasSubstr(reason));
}

// Columns of the matrix are rows of the weights: [-8 7], [4 -2], [0 0] and so on. The weight of the largest magnitude
// becomes -8.
TEST(Weights, OfFourBits) {
  expectRounded(R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 4]
  %w = constant() {} : float32[4, 2] data=[-8, 0, 7, 0, 4, -1, -2, 1]
  %b = constant() {} : float32[2] data=[1, 2]
  %y = matrix_multiply(%x, %w, %b) {activation="relu"}
  output "y" %y
})",
                R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 4]
  %b = constant() {} : float32[2] data=[1, 2]
  %y_weights = constant() {} : uint8[2, 2] data=[120, 72, 0, 120]
  %y_scale = constant() {} : float32[2, 2] data=[1, -0.5, 0, 0.125]
  %y = integer_weight_matrix_multiply(%x, %y_weights, %y_scale, null, %b) {bits=4, group_size=2, activation="relu"}
  output "y" %y
})",
                smallLayersToo(4));
}

TEST(Weights, OfEightBitsOfATransposedMatrix) {
  expectRounded(R"(network "n" () {
  input %x : float32[3, 4]
  input %r : float32[3, 1]
  %w = constant() {} : float32[1, 4] data=[-64, 31.5, 64, -64]
  %y = matrix_multiply(%x, %w, null, %r) {transpose_b=true}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[3, 4]
  input %r : float32[3, 1]
  %y_weights = constant() {} : int8[1, 4] data=[-128, 63, -128, 127]
  %y_scale = constant() {} : float32[1, 2] data=[0.5, -0.5]
  %y = integer_weight_matrix_multiply(%x, %y_weights, %y_scale, null, null, %r) {bits=8, group_size=2}
  output "y" %y
})",
                smallLayersToo(8));
}

// From 0 to 15: -8 to 7 and a zero point of -8, whose offset is 8.
TEST(Weights, WithZeroPoints) {
  WeightOptions options = smallLayersToo(4);
  options.has_zero_points = true;
  expectRounded(R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[1, 2, 1] data=[15, 3]
  %x3 = shuffle(%x) {reshape_dims=[1, 3, 2]}
  %y = matrix_multiply(%x3, %w) {}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[3, 2]
  %x3 = shuffle(%x) {reshape_dims=[1, 3, 2]}
  %y_weights = constant() {} : uint8[1, 1] data=[183]
  %y_scale = constant() {} : float32[1, 1] data=[1]
  %y_offset = constant() {} : float32[1, 1] data=[8]
  %y = integer_weight_matrix_multiply(%x3, %y_weights, %y_scale, %y_offset) {bits=4, group_size=2}
  output "y" %y
})",
                options);
}

TEST(Weights, OfHalfPrecision) {
  expectRounded(R"(network "n" () {
  input %x : bfloat16[3, 2]
  %w = constant() {} : bfloat16[2, 1] data=[-8, 3]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
                R"(network "n" () {
  input %x : bfloat16[3, 2]
  %y_weights = constant() {} : uint8[1, 1] data=[56]
  %y_scale = constant() {} : float32[1, 1] data=[1]
  %y = integer_weight_matrix_multiply(%x, %y_weights, %y_scale) {bits=4, group_size=2}
  output "y" %y
})",
                smallLayersToo(4));
}

TEST(Weights, KeepMatricesThatTheCallBrings) {
  expectKept(R"(network "n" () {
  input %x : float32[3, 2]
  input %w : float32[2, 4]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
             "no constant");
}

TEST(Weights, KeepDepthsThatGroupsDoNotDivide) {
  expectKept(R"(network "n" () {
  input %x : float32[3, 3]
  %w = constant() {} : float32[3, 1] data=[1, 2, 3]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
             "its depth of 3 is no multiple of the group size, 2");
}

TEST(Weights, KeepSmallMatrices) {
  WeightOptions options = smallLayersToo(8);
  options.min_weights = 3;
  expectKept(R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[2, 1] data=[1, 2]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
             "its 2 weights are too few", options);
}

TEST(Weights, KeepPinnedLayers) {
  WeightOptions options = smallLayersToo(8);
  options.why_not = [](const network::Layer& layer) { return layer.getName() == "y" ? "pinned" : ""; };
  expectKept(R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[2, 1] data=[1, 2]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
             "pinned", options);
}

TEST(Weights, KeepNumbersThatAreNotFinite) {
  for (const char* const value : {"nan", "inf", "-inf"}) {
    expectKept(std::string(R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[2, 1] data=[1, )") +
                   value + R"(]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
               "not finite");
  }
}

TEST(Weights, KeepFloat64) {
  expectKept(R"(network "n" () {
  input %x : float64[3, 2]
  %w = constant() {} : float64[2, 1] data=[1, 2]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
             "float64");
}

TEST(Weights, KeepBatchesOfMatrices) {
  expectKept(R"(network "n" () {
  input %x : float32[2, 3, 2]
  %w = constant() {} : float32[2, 2, 1] data=[1, 2, 3, 4]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
             "a batch of matrices");
}

TEST(Weights, KeepMatricesOfTransposedOperands) {
  expectKept(R"(network "n" () {
  input %x : float32[2, 3]
  %w = constant() {} : float32[2, 1] data=[1, 2]
  %y = matrix_multiply(%x, %w) {transpose_a=true}
  output "y" %y
})",
             "transposed");
}

TEST(Weights, StayAsTheyAreForATargetThatNothingMeets) {
  WeightOptions options = smallLayersToo(4);
  options.accuracy_target = 1e-6;
  const std::string text = R"(network "n" () {
  input %x : float32[1, 2]
  %w = constant() {} : float32[2, 1] data=[-8, 3.4]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})";
  WeightRounding rounding(*network::parse(text), options);
  EXPECT_THROW(rounding.round(), CompileError);  // no batch
  const float values[] = {1, 1};
  const int64_t dims[] = {1, 2};
  const int64_t strides[] = {2, 1};
  const engine::TensorView view = {DType::kFloat32, 2, dims, strides, values};
  rounding.add({&view, 1});
  const Quantized result = rounding.round();
  EXPECT_FALSE(result.layers[0].is_quantized);
  EXPECT_NEAR(result.layers[0].error, 0.4 / 4.6, 1e-6);
  EXPECT_THAT(result.layers[0].reason, HasSubstr("costs more accuracy"));
  EXPECT_EQ(network::print(*result.network), network::print(*network::parse(text)));
}

TEST(Weights, AreRoundedIfTheTargetIsMet) {
  WeightOptions options = smallLayersToo(4);
  options.accuracy_target = 0.1;
  WeightRounding rounding(*network::parse(R"(network "n" () {
  input %x : float32[1, 2]
  %w = constant() {} : float32[2, 1] data=[-8, 3.4]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})"),
                          options);
  const float values[] = {1, 1};
  const int64_t dims[] = {1, 2};
  const int64_t strides[] = {2, 1};
  const engine::TensorView view = {DType::kFloat32, 2, dims, strides, values};
  rounding.add({&view, 1});
  const Quantized result = rounding.round();
  EXPECT_TRUE(result.layers[0].is_quantized);
  EXPECT_NEAR(result.error, 0.4 / 4.6, 1e-6);
}

TEST(GroupRounding, OfZerosAndOfTheSmallestNumbers) {
  const float least = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values = {0, 0, least, -least};
  for (const bool has_zero_points : {false, true}) {
    const RoundedMatrix rounded = roundByGroups(values, 4, 8, 2, has_zero_points);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(rounded.weights.as<int8_t>()[i], 0);
    }
    EXPECT_EQ(rounded.scale.as<float>()[0], 0);
    EXPECT_EQ(rounded.scale.as<float>()[1], 0);
  }
}

// The error of each weight is at most half a scale, a whole one for the largest on the other side of the extreme.
TEST(GroupRounding, IsAsNearAsItsBitsAllow) {
  std::vector<float> values;
  for (int i = 0; i < 256; ++i) {
    values.push_back(static_cast<float>((i * 37 % 101) - 40) / 16);
  }
  for (const int64_t bits : {4, 8}) {
    const RoundedMatrix rounded = roundByGroups(values, 64, bits, 32, true);
    for (size_t i = 0; i < values.size(); ++i) {
      const int half = rounded.weights.as<uint8_t>()[i / 2] >> (i % 2 == 0 ? 0 : 4) & 15;
      const int q = bits == 8 ? rounded.weights.as<int8_t>()[i] : half < 8 ? half : half - 16;
      const float scale = rounded.scale.as<float>()[i / 32];
      EXPECT_NEAR(static_cast<float>(q) * scale + rounded.offset.as<float>()[i / 32], values[i], 0.501 * scale);
    }
  }
}

}  // namespace
}  // namespace torchtrt::quantization
