// Rewrites networks with known ranges, and compares the text. Ranges are chosen such that scales are short numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "quantization/quantization.h"

namespace torchtrt::quantization {
namespace {

Options smallLayersToo() {
  Options options;
  options.min_multiplications = 0;
  return options;
}

Quantized quantize(const std::string& text, const Ranges& ranges, const Options& options = smallLayersToo()) {
  return Calibration(*network::parse(text), options).quantize(ranges);
}

void expectQuantized(const std::string& before, const Ranges& ranges, const std::string& after,
                     const Options& options = smallLayersToo()) {
  const Quantized result = quantize(before, ranges, options);
  network::verify(*result.network);
  EXPECT_EQ(network::print(*result.network), network::print(*network::parse(after)));
  for (const LayerChoice& choice : result.layers) {
    EXPECT_NE(choice.is_quantized, !choice.reason.empty()) << choice.layer << ": " << choice.reason;
  }
}

// One channel of greatest weight 127/2 and one of 127: scales of 1/2 and 1.
TEST(Quantize, AConvolution) {
  expectQuantized(R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 1, 4, 4]
  %w = constant() {} : float32[2, 1, 1, 2] data=[63.5, -10, 127, 64.4]
  %b = constant() {} : float32[2] data=[1, 2]
  %y = convolution(%x, %w, %b) {stride=[2, 1], pre_padding=[0, 1], activation="relu"}
  output "y" %y
})",
                  {{"x", {-64, 63.5}}}, R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 1, 4, 4]
  %b = constant() {} : float32[2] data=[1, 2]
  %x_steps = quantize(%x) {to=uint8, scale=0.5, zero_point=128, low=0, high=255}
  %y_weights = constant() {} : int8[2, 1, 1, 2] data=[127, -20, 127, 64]
  %y_scales = constant() {} : float32[2] data=[0.25, 0.5]
  %y = quantized_convolution(%x_steps, %y_weights, %y_scales, %b) {stride=[2, 1], pre_padding=[0, 1], zero_point=128, to=float32, activation="relu"}
  output "y" %y
})");
}

// Scales of each output and tap: 1/2, 1, 2 and 4 of the weights.
TEST(Quantize, ADeconvolutionWhoseWindowsLieSideBySide) {
  expectQuantized(R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[1, 1, 3, s0]
  %w = constant() {} : float32[1, 2, 1, 2] data=[63.5, 127, 254, -508]
  %b = constant() {} : float32[2] data=[1, 2]
  %y = deconvolution(%x, %w, %b) {stride=[1, 2], activation="relu"}
  output "y" %y
})",
                  {{"x", {-64, 63.5}}}, R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[1, 1, 3, s0]
  %x_steps = quantize(%x) {to=uint8, scale=0.5, zero_point=128, low=0, high=255}
  %y_weights = constant() {} : int8[4, 1, 1, 1] data=[127, 127, 127, -127]
  %y_scales = constant() {} : float32[4] data=[0.25, 1, 0.5, 2]
  %y_bias = constant() {} : float32[4] data=[1, 2, 1, 2]
  %y_taps = quantized_convolution(%x_steps, %y_weights, %y_scales, %y_bias) {zero_point=128, to=float32, activation="relu"}
  %shuffle_8 = shuffle(%y_taps) {reshape_dims=[1, 1, 2, 2, 3, s0], second_permutation=[0, 3, 4, 1, 5, 2]}
  %y = shuffle(%shuffle_8) {reshape_dims=[1, 2, 3, s0*2]}
  output "y" %y
})");
}

TEST(Quantize, AMatrixMultiplicationByATransposedMatrix) {
  expectQuantized(R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[3, 2] data=[127, 1, 2, 127, -127, 3]
  %y = matrix_multiply(%x, %w) {transpose_b=true}
  output "y" %y
})",
                  {{"x", {0, 127.5}}}, R"(network "n" () {
  input %x : float32[3, 2]
  %x_steps = quantize(%x) {to=uint8, scale=0.5, zero_point=0, low=0, high=255}
  %y_weights = constant() {} : int8[2, 3] data=[127, 2, -127, 1, 127, 3]
  %y_scales = constant() {} : float32[3] data=[0.5, 0.5, 0.5]
  %y = quantized_matrix_multiply(%x_steps, %y_weights, %y_scales) {to=float32}
  output "y" %y
})");
}

TEST(Quantize, SymmetricSteps) {
  Options options = smallLayersToo();
  options.symmetric = true;
  expectQuantized(R"(network "n" () {
  input %x : float32[1, 2]
  %w = constant() {} : float32[2, 1] data=[127, -127]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
                  {{"x", {-1, 63.5}}}, R"(network "n" () {
  input %x : float32[1, 2]
  %x_steps = quantize(%x) {to=int8, scale=0.5, low=-127, high=127}
  %y_weights = constant() {} : int8[2, 1] data=[127, -127]
  %y_scales = constant() {} : float32[1] data=[0.5]
  %y = quantized_matrix_multiply(%x_steps, %y_weights, %y_scales) {to=float32}
  output "y" %y
})",
                  options);
}

TEST(Quantize, AChannelOfZeros) {
  expectQuantized(R"(network "n" () {
  input %x : float32[1, 2]
  %w = constant() {} : float32[2, 2] data=[127, 0, 1, 0]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
})",
                  {{"x", {0, 63.75}}}, R"(network "n" () {
  input %x : float32[1, 2]
  %x_steps = quantize(%x) {to=uint8, scale=0.25, low=0, high=255}
  %y_weights = constant() {} : int8[2, 2] data=[127, 0, 1, 0]
  %y_scales = constant() {} : float32[2] data=[0.25, 0.25]
  %y = quantized_matrix_multiply(%x_steps, %y_weights, %y_scales) {to=float32}
  output "y" %y
})");
}

// Each tensor is quantized once, and a shared matrix goes only with its last reader.
TEST(Quantize, LayersThatShareTheirOperands) {
  expectQuantized(R"(network "n" () {
  input %x : float32[1, 2]
  input %z : float32[1, 2]
  %w = constant() {} : float32[2, 2] data=[127, 2, 1, 127]
  %v = constant() {} : float32[2, 1] data=[127, 64]
  %a = matrix_multiply(%x, %w) {}
  %b = matrix_multiply(%x, %v) {}
  %c = matrix_multiply(%z, %w) {}
  output "a" %a
  output "b" %b
  output "c" %c
})",
                  {{"x", {0, 127.5}}}, R"(network "n" () {
  input %x : float32[1, 2]
  input %z : float32[1, 2]
  %w = constant() {} : float32[2, 2] data=[127, 2, 1, 127]
  %x_steps = quantize(%x) {to=uint8, scale=0.5, low=0, high=255}
  %a_weights = constant() {} : int8[2, 2] data=[127, 2, 1, 127]
  %a_scales = constant() {} : float32[2] data=[0.5, 0.5]
  %a = quantized_matrix_multiply(%x_steps, %a_weights, %a_scales) {to=float32}
  %b_weights = constant() {} : int8[2, 1] data=[127, 64]
  %b_scales = constant() {} : float32[1] data=[0.5]
  %b = quantized_matrix_multiply(%x_steps, %b_weights, %b_scales) {to=float32}
  %c = matrix_multiply(%z, %w) {}
  output "a" %a
  output "b" %b
  output "c" %c
})");
}

std::string residualBlock(const std::string& outputs) {
  return R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[127]
  %first = convolution(%x, %w) {activation="relu"}
  %second = convolution(%first, %w, null, %first) {activation="relu"}
  output "y" %second
)" + outputs +
         "}";
}

std::string printed(const std::string& text, const Ranges& ranges) {
  return network::print(*quantize(text, ranges).network);
}

TEST(Quantize, AResidualThatNobodyReadsInFloat) {
  const std::string text = printed(residualBlock(""), {{"x", {0, 255}}, {"first", {-2, 253}}});
  EXPECT_THAT(text,
              ::testing::HasSubstr("%second = quantized_convolution(%first_steps, %second_weights, %second_scales, "
                                   "null, %first_steps)"));
  EXPECT_THAT(text, ::testing::HasSubstr("residual_zero_point=2"));
}

TEST(Quantize, NotAResidualThatIsComputedInFloatAnyway) {
  const Ranges ranges = {{"x", {0, 255}}, {"first", {-2, 253}}};
  EXPECT_THAT(printed(residualBlock("  output \"first\" %first\n"), ranges), ::testing::HasSubstr("null, %first)"));
  // Its producer does not compute with integers.
  EXPECT_THAT(printed(residualBlock(""), {{"first", {-2, 253}}}), ::testing::HasSubstr("null, %first)"));
}

// A shortcut is read as a residual alone.
TEST(Quantize, AShortcutWithARangeOfItsOwn) {
  const std::string block = R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[127]
  %v = constant() {} : float32[1, 1, 1, 1] data=[-127]
  %shortcut = convolution(%x, %w) {}
  %y = convolution(%x, %v, null, %shortcut) {}
  output "y" %y
})";
  EXPECT_THAT(printed(block, {{"x", {0, 255}}, {"shortcut", {0, 510}}}), ::testing::HasSubstr("residual_scale=2"));
  EXPECT_THAT(printed(block, {{"x", {0, 255}}}), ::testing::HasSubstr("null, %shortcut)"));
}

TEST(Quantize, KeepsNamesAndLocations) {
  const auto network = network::parse(residualBlock(""));
  network->findLayer("second")->setLocation({"model.py", 7, 4, "forward", "block.second"});
  Calibration calibration(*network, smallLayersToo());
  const Quantized result = calibration.quantize({{"x", {0, 1}}, {"first", {0, 1}}});
  const network::Layer* second = result.network->findLayer("second");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->getType(), network::LayerType::kQUANTIZED_CONVOLUTION);
  EXPECT_EQ(second->location().line, 7);
  ASSERT_EQ(result.layers.size(), 2U);
  EXPECT_EQ(result.layers[1].layer, "second");
  EXPECT_EQ(result.layers[1].kind, "convolution");
  EXPECT_EQ(result.layers[1].location.scope, "block.second");
  EXPECT_TRUE(result.layers[1].is_quantized);
}

TEST(Quantize, GivesTheSameTextEveryTime) {
  const Ranges ranges = {{"x", {0, 1}}, {"first", {-0.3, 1}}};
  EXPECT_EQ(printed(residualBlock(""), ranges), printed(residualBlock(""), ranges));
}

}  // namespace
}  // namespace torchtrt::quantization
