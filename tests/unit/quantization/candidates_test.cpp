// Layers that stay in float, each with its reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "quantization/quantization.h"

namespace torchtrt::quantization {
namespace {

using ::testing::HasSubstr;

// Why the only product of the network stays in float; "" where it does not. Every tensor has a range.
std::string whyNot(const std::string& body, const Options& options) {
  const auto network = network::parse("network \"n\" (s0 in [1, 2, 64]) {\n" + body + "}");
  const Quantized result = Calibration(*network, options).quantize({{"x", {0, 1}}});
  EXPECT_EQ(result.layers.size(), 1U);
  EXPECT_EQ(result.layers[0].is_quantized, result.layers[0].reason.empty());
  EXPECT_EQ(result.layers[0].error, -1);
  EXPECT_EQ(result.error, -1);
  return result.layers[0].reason;
}

std::string whyNot(const std::string& body) {
  Options options;
  options.min_multiplications = 0;
  return whyNot(body, options);
}

std::string zeros(int count) {
  std::string text = "data=[0";
  for (int i = 1; i < count; ++i) {
    text += ", 0";
  }
  return text + "]";
}

std::string matrixMultiply(const std::string& attributes, const std::string& right, const std::string& bias = "") {
  return R"(  input %x : float32[2, 2]
  input %r : float32[2, 2]
  input %vector : float32[2]
  input %number : float32[1]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %endless = constant() {} : float32[2, 2] data=[1, inf, 3, 4]
  %row = constant() {} : float32[1, 2] data=[1, 2]
  %y = matrix_multiply(%x, )" +
         right + bias + ") {" + attributes + R"(}
  output "y" %y
)";
}

TEST(StaysInFloat, NotAPlainProduct) {
  EXPECT_EQ(whyNot(matrixMultiply("", "%w")), "");
  EXPECT_EQ(whyNot(matrixMultiply("transpose_b=true", "%w")), "");
  EXPECT_EQ(whyNot(matrixMultiply("", "%w", ", %vector")), "");
}

TEST(StaysInFloat, AProductOfTwoTensors) {
  EXPECT_EQ(whyNot(matrixMultiply("", "%r")), "its right operand is no constant");
}

TEST(StaysInFloat, ATransposedLeftOperand) {
  EXPECT_EQ(whyNot(matrixMultiply("transpose_a=true", "%w")), "its left operand is transposed");
}

TEST(StaysInFloat, ABiasThatIsNotOnePerColumn) {
  EXPECT_EQ(whyNot(matrixMultiply("", "%w", ", %number")),
            "its bias has dims [1], integer matrix multiplications take [2]");
  EXPECT_EQ(whyNot(matrixMultiply("", "%w", ", %row")),
            "its bias has dims [1, 2], integer matrix multiplications take [2]");
}

TEST(StaysInFloat, WeightsThatAreNotFinite) {
  EXPECT_EQ(whyNot(matrixMultiply("", "%endless")), "its weights are not finite");
}

TEST(StaysInFloat, ABatchOfMatrices) {
  EXPECT_EQ(whyNot(R"(  input %x : float32[2, 1, 2]
  %w = constant() {} : float32[2, 2, 1] data=[1, 2, 3, 4]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
)"),
            "its right operand has rank 3, integer matrix multiplications take 2");
}

TEST(StaysInFloat, AnotherDType) {
  EXPECT_EQ(whyNot(R"(  input %x : float64[2, 2]
  %w = constant() {} : float64[2, 2] data=[1, 2, 3, 4]
  %y = matrix_multiply(%x, %w) {}
  output "y" %y
)"),
            "it computes in float64, only float32 is quantized");
}

TEST(StaysInFloat, SumsThatMayLeaveInt32) {
  // The optimizer does not fold constants of symbolic shape, nor large ones: weights of zeros are made here.
  const auto network = network::parse(R"(network "n" () {
  input %x : float32[1, 70000]
})");
  const network::Weights weights = [] {
    void* memory = nullptr;
    network::Weights made = network::Weights::allocate(DType::kFloat32, {70000, 1}, &memory);
    std::fill_n(static_cast<float*>(memory), 70000, 1.0F);
    return made;
  }();
  network::Layer* product =
      network->addMatrixMultiply(*network->getInput(0), false, *network->addConstant(weights)->getOutput(0), false);
  network->markOutput(*product->getOutput(0), "y");
  Options options;
  options.min_multiplications = 0;
  const Quantized result = Calibration(*network, options).quantize({{"x", {0, 1}}});
  EXPECT_EQ(result.layers[0].reason, "its sums of 70000 products may leave int32, which holds 65793");
}

std::string convolution(int channels, int outputs, int groups, const std::string& input = "s0") {
  const int per_group = channels / groups;
  return "  input %x : float32[" + input + ", " + std::to_string(channels) + R"(, 4, 4]
  %w = constant() {} : float32[)" +
         std::to_string(outputs) + ", " + std::to_string(per_group) + ", 1, 1] " + zeros(outputs * per_group) + R"(
  %y = convolution(%x, %w) {groups=)" +
         std::to_string(groups) + R"(}
  output "y" %y
)";
}

TEST(StaysInFloat, AGroupedConvolution) {
  EXPECT_EQ(whyNot(convolution(2, 2, 1)), "");
  EXPECT_EQ(whyNot(convolution(2, 2, 2)), "a depthwise convolution multiplies too little to gain from integers");
  EXPECT_EQ(whyNot(convolution(4, 4, 2)), "its groups have 2 channels, too few to gain from integers");
  EXPECT_EQ(whyNot(convolution(32, 8, 2)), "its groups have 4 channels, too few to gain from integers");
  EXPECT_EQ(whyNot(convolution(32, 32, 2)), "");
}

TEST(StaysInFloat, WeightsThatAreNoConstant) {
  EXPECT_EQ(whyNot(R"(  input %x : float32[1, 1, 2, 2]
  input %w : float32[1, 1, 1, 1]
  %y = convolution(%x, %w) {}
  output "y" %y
)"),
            "its weights are no constant");
}

TEST(StaysInFloat, ADeconvolutionOfOtherWindows) {
  const auto deconvolution = [](const std::string& attributes, const std::string& operands = "%x, %w, %b") {
    return whyNot(R"(  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 2] data=[2, 3]
  %b = constant() {} : float32[1] data=[2]
  input %c : float32[1]
  %y = deconvolution()" +
                  operands + ") {" + attributes + R"(}
  output "y" %y
)");
  };
  EXPECT_EQ(deconvolution("stride=[1, 2]"), "");
  EXPECT_EQ(deconvolution("stride=[1, 2]", "%x, %w"), "");
  const char* const kApart = "only deconvolutions whose windows lie side by side have an integer form";
  for (const char* attributes : {"stride=[1, 1]", "stride=[1, 3]", "stride=[1, 2], pre_padding=[0, 1]",
                                 "stride=[1, 2], post_padding=[0, 1]", "stride=[1, 2], output_padding=[0, 1]"}) {
    EXPECT_EQ(deconvolution(attributes), kApart) << attributes;
  }
  EXPECT_EQ(deconvolution("stride=[1, 2]", "%x, %w, %c"), "its bias is no constant, or it adds a residual");
}

TEST(StaysInFloat, ASmallLayerAtTheOptimumShape) {
  // 2 * 16 * 32 * 32
  Options options;
  options.min_multiplications = 32769;
  EXPECT_EQ(whyNot(convolution(32, 32, 1), options), "its 32768 multiplications are too few to gain from integers");
  options.min_multiplications = 32768;
  EXPECT_EQ(whyNot(convolution(32, 32, 1), options), "");
}

TEST(StaysInFloat, ALayerOfShortSums) {
  EXPECT_EQ(whyNot(convolution(31, 64, 1, "8"), {}), "its sums of 31 products are too short to gain from integers");
  EXPECT_EQ(whyNot(convolution(32, 64, 1, "8"), {}), "");
}

TEST(StaysInFloat, ALayerThatReadsMoreThanItMultiplies) {
  EXPECT_EQ(whyNot(convolution(32, 31, 1, "8"), {}),
            "it multiplies each input 31 times, too few to gain from integers");
}

TEST(StaysInFloat, ALayerWithoutRange) {
  Options options;
  options.min_multiplications = 0;
  const std::string text = "network \"n\" () {\n" + matrixMultiply("", "%w") + "}";
  const Calibration calibration(*network::parse(text), options);
  EXPECT_TRUE(calibration.hasCandidates());
  EXPECT_EQ(calibration.quantize({}).layers[0].reason,
            "no range is known of its input 'x': no batch gave it a finite value but zero");
  EXPECT_EQ(calibration.quantize({{"x", {0, 0}}}).layers[0].reason,
            "the range of its input 'x' is too small or too large for steps in float32");
  const Quantized result = calibration.quantize({{"w", {0, 1}}});
  EXPECT_EQ(network::print(*result.network), network::print(*calibration.quantize({}).network));
  EXPECT_THROW(calibration.quantize({{"x", {1, 0}}}), CompileError);
}

TEST(StaysInFloat, ANetworkWithoutProducts) {
  const auto network = network::parse(R"(network "n" () {
  input %x : float32[2]
  %y = activation(%x) {op="relu"}
  output "y" %y
})");
  Calibration calibration(*network, {});
  EXPECT_FALSE(calibration.hasCandidates());
  EXPECT_TRUE(calibration.ranges().empty());
  EXPECT_TRUE(calibration.quantize({}).layers.empty());
}

}  // namespace
}  // namespace torchtrt::quantization
