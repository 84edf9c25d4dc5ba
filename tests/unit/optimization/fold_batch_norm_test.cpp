#include <gtest/gtest.h>

#include "optimization/optimization.h"
#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(FoldBatchNorm, IntoAConvolutionWithBias) {
  expectChanged("fold_batch_norm", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %b = constant() {} : float32[2] data=[1, -1]
  %scale = constant() {} : float32[2] data=[1, 3]
  %shift = constant() {} : float32[2] data=[0.5, 0]
  %mean = constant() {} : float32[2] data=[1, 2]
  %variance = constant() {} : float32[2] data=[3, 8]
  %conv = convolution(%x, %w, %b) {}
  %norm = normalization(%conv, %scale, %shift, %mean, %variance) {mode="batch", eps=1}
  output "y" %norm
})",
                R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %constant_8 = constant() {} : float32[2, 1, 1, 1] data=[0.5, 2]
  %constant_9 = constant() {} : float32[2] data=[0.5, -3]
  %norm = convolution(%x, %constant_8, %constant_9) {}
  output "y" %norm
})");
}

TEST(FoldBatchNorm, WithoutScaleAndShiftAndIntoGroups) {
  expectChanged("fold_batch_norm", R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %mean = constant() {} : float32[2] data=[1, 2]
  %variance = constant() {} : float32[2] data=[3, 8]
  %conv = convolution(%x, %w) {groups=2, stride=[2, 2]}
  %norm = normalization(%conv, null, null, %mean, %variance) {mode="batch", eps=1, activation="relu"}
  output "y" %norm
})",
                R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %constant_5 = constant() {} : float32[2, 1, 1, 1] data=[0.5, 0.6666667]
  %constant_6 = constant() {} : float32[2] data=[-0.5, -0.6666667]
  %norm = convolution(%x, %constant_5, %constant_6) {groups=2, stride=[2, 2], activation="relu"}
  output "y" %norm
})");
}

// The kernel of a deconvolution is [C, K / groups, ...]: output channel 1 is the second column of the first group.
TEST(FoldBatchNorm, IntoADeconvolution) {
  expectChanged("fold_batch_norm", R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %w = constant() {} : float32[2, 2, 1, 1] data=[1, 2, 3, 4]
  %mean = constant() {} : float32[4] data=[0, 0, 0, 1]
  %variance = constant() {} : float32[4] data=[0, 3, 8, 3]
  %deconv = deconvolution(%x, %w) {groups=2}
  %norm = normalization(%deconv, null, null, %mean, %variance) {mode="batch", eps=1}
  output "y" %norm
})",
                R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %constant_5 = constant() {} : float32[2, 2, 1, 1] data=[1, 1, 1, 2]
  %constant_6 = constant() {} : float32[4] data=[0, 0, 0, -0.5]
  %norm = deconvolution(%x, %constant_5, %constant_6) {groups=2}
  output "y" %norm
})");
}

TEST(FoldBatchNorm, IntoAMatrixMultiplication) {
  expectChanged("fold_batch_norm", R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %b = constant() {} : float32[2] data=[1, 1]
  %mean = constant() {} : float32[2] data=[0, 1]
  %variance = constant() {} : float32[2] data=[0, 3]
  %product = matrix_multiply(%x, %w, %b) {transpose_b=true}
  %norm = normalization(%product, null, null, %mean, %variance) {mode="batch", eps=1}
  output "y" %norm
})",
                R"(network "n" () {
  input %x : float32[3, 2]
  %constant_6 = constant() {} : float32[2, 2] data=[1, 2, 1.5, 2]
  %constant_7 = constant() {} : float32[2] data=[1, 0]
  %norm = matrix_multiply(%x, %constant_6, %constant_7) {transpose_b=true}
  output "y" %norm
})");
}

// Makes the network in dtype `float16` or `bfloat16`.
std::string ofHalves(const std::string& dtype, const std::string& weights, const std::string& variances) {
  const std::string constants = "constant() {} : " + dtype;
  return "network \"n\" () {\n  input %x : " + dtype + "[1, 1, 2, 2]\n  %w = " + constants + "[2, 1, 1, 1] data=[" +
         weights + "]\n  %mean = " + constants + "[2] data=[1, 2]\n  %variance = " + constants + "[2] data=[" +
         variances + R"(]
  %conv = convolution(%x, %w) {}
  %norm = normalization(%conv, null, null, %mean, %variance) {mode="batch", eps=1, activation="relu"}
  output "y" %norm
})";
}

// The network's text behind the pass; numbers are not compared, since the fold rounds elsewhere.
std::string afterFold(const std::string& text) {
  const auto network = network::parse(text);
  createManager({"fold_batch_norm"}).run(*network);
  return network::print(*network);
}

std::string folded(const std::string& dtype, const std::string& weights, const std::string& biases) {
  return "network \"n\" () {\n  input %x : " + dtype + "[1, 1, 2, 2]\n  %constant_5 = constant() {} : " + dtype +
         "[2, 1, 1, 1] data=[" + weights + "]\n  %constant_6 = constant() {} : " + dtype + "[2] data=[" + biases + R"(]
  %norm = convolution(%x, %constant_5, %constant_6) {activation="relu"}
  output "y" %norm
})";
}

void expectFolded(const std::string& before, const std::string& after) {
  EXPECT_EQ(afterFold(before), network::print(*network::parse(after)));
}

TEST(FoldBatchNorm, IntoWeightsOfFloat16) {
  expectFolded(ofHalves("float16", "1, 3", "3, 15"), folded("float16", "0.5, 0.75", "-0.5, -0.5"));
}

TEST(FoldBatchNorm, IntoTheScaleOfBFloat16) {
  expectFolded(ofHalves("bfloat16", "1, 3", "3, 15"), R"(network "n" () {
  input %x : bfloat16[1, 1, 2, 2]
  %w = constant() {} : bfloat16[2, 1, 1, 1] data=[1, 3]
  %constant_5 = constant() {} : float32[2] data=[-0.5, -0.5]
  %constant_6 = constant() {} : float32[2] data=[0.5, 0.25]
  %norm = convolution(%x, %w, %constant_5, null, %constant_6) {activation="relu"}
  output "y" %norm
})");
}

// A convolution of bfloat16 that has this behind its weights.
std::string ofBFloat16(const std::string& operands, const std::string& attributes, const std::string& variance = "3") {
  return R"(network "n" () {
  input %x : bfloat16[1, 1, 2, 2]
  %w = constant() {} : bfloat16[1, 1, 1, 1] data=[1]
  %b = constant() {} : bfloat16[1] data=[3]
  %c = constant() {} : float32[1] data=[3]
  %mean = constant() {} : bfloat16[1] data=[1]
  %variance = constant() {} : bfloat16[1] data=[)" +
         variance + R"(]
  %conv = convolution(%x, %w)" +
         operands + ") {" + attributes + R"(}
  %norm = normalization(%conv, null, null, %mean, %variance) {mode="batch", eps=1}
  output "y" %norm
})";
}

TEST(FoldBatchNorm, TheBiasIsScaled) {
  EXPECT_EQ(afterFold(ofBFloat16(", %b", "")), network::print(*network::parse(R"(network "n" () {
  input %x : bfloat16[1, 1, 2, 2]
  %w = constant() {} : bfloat16[1, 1, 1, 1] data=[1]
  %c = constant() {} : float32[1] data=[3]
  %constant_7 = constant() {} : float32[1] data=[1]
  %constant_8 = constant() {} : float32[1] data=[0.5]
  %norm = convolution(%x, %w, %constant_7, null, %constant_8) {}
  output "y" %norm
})")));
}

TEST(FoldBatchNorm, NotASecondScale) {
  expectKept("fold_batch_norm", ofBFloat16(", %c, null, %c", ""));
  expectKept("fold_batch_norm", ofBFloat16(", null, %x", ""));
  expectKept("fold_batch_norm", ofBFloat16("", "activation=\"relu\""));
  expectKept("fold_batch_norm", ofBFloat16("", "", "-1"));
}

// 2^-11 / 16 has few bits in float16, 2^-9 / 16 all. 0 stays 0.
TEST(FoldBatchNorm, NotIntoWeightsThatFloat16RoundsCoarsely) {
  const std::string kept = ofHalves("float16", "0, 0.00048828125", "3, 255");
  expectFolded(kept, kept);
  expectFolded(ofHalves("float16", "0, 0.001953125", "3, 255"),
               folded("float16", "0, 0.0001220703125", "-0.5, -0.125"));
}

// Only a normalization keeps its results in a range that 16 bits have.
TEST(FoldBatchNorm, NotOtherScalesIntoFloat16) {
  const auto network = network::parse(R"(network "n" () {
  input %x : float16[1, 1, 2, 2]
  %w = constant() {} : float16[1, 1, 1, 1] data=[1]
  %scale = constant() {} : float16[1] data=[2]
  %conv = convolution(%x, %w) {}
  %y = elementwise(%conv, %scale) {op="prod"}
  output "y" %y
})");
  EXPECT_FALSE(createManager({"fold_scale_and_shift"}).run(*network));
}

// A convolution and its normalization, with what the caller says of each.
std::string normalized(const std::string& conv_attributes, const std::string& norm_attributes,
                       const std::string& outputs) {
  return R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  input %m : float32[1]
  %w = constant() {} : float32[1, 1, 1, 1] data=[1]
  %mean = constant() {} : float32[1] data=[1]
  %variance = constant() {} : float32[1] data=[3]
  %minus_one = constant() {} : float32[1] data=[-1]
  %minus_two = constant() {} : float32[1] data=[-2]
  %conv = convolution(%x, %w) {)" +
         conv_attributes + R"(}
  %norm = normalization(%conv, null, null, )" +
         norm_attributes + R"(}
  output "y" %norm
)" + outputs +
         "}";
}

TEST(FoldBatchNorm, NotWhereOthersReadTheConvolution) {
  expectKept("fold_batch_norm",
             normalized("", "%mean, %variance) {mode=\"batch\", eps=1", "  output \"conv\" %conv\n"));
}

TEST(FoldBatchNorm, NotPastAnActivation) {
  expectKept("fold_batch_norm", normalized("activation=\"relu\"", "%mean, %variance) {mode=\"batch\", eps=1", ""));
}

TEST(FoldBatchNorm, NotWithStatisticsOfTheInput) {
  expectKept("fold_batch_norm", normalized("", "null, null) {mode=\"instance\", eps=1", ""));
  expectKept("fold_batch_norm", normalized("", "%m, %variance) {mode=\"batch\", eps=1", ""));
}

// 1 / sqrt(-1 + 1) is infinite, 1 / sqrt(-2 + 1) is no number.
TEST(FoldBatchNorm, NotWhereTheScaleIsNotFinite) {
  expectKept("fold_batch_norm", normalized("", "%mean, %minus_one) {mode=\"batch\", eps=1", ""));
  expectKept("fold_batch_norm", normalized("", "%mean, %minus_two) {mode=\"batch\", eps=1", ""));
}

TEST(FoldBatchNorm, NotWhereAWeightWouldOverflow) {
  expectKept("fold_batch_norm", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[1e+38]
  %scale = constant() {} : float32[1] data=[100]
  %mean = constant() {} : float32[1] data=[0]
  %variance = constant() {} : float32[1] data=[0]
  %conv = convolution(%x, %w) {}
  %norm = normalization(%conv, %scale, null, %mean, %variance) {mode="batch", eps=1}
  output "y" %norm
})");
}

TEST(FoldBatchNorm, NotAlongAnotherAxisThanTheColumns) {
  expectKept("fold_batch_norm", R"(network "n" () {
  input %x : float32[3, 2, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %mean = constant() {} : float32[2] data=[0, 1]
  %variance = constant() {} : float32[2] data=[0, 3]
  %product = matrix_multiply(%x, %w) {}
  %norm = normalization(%product, null, null, %mean, %variance) {mode="batch", eps=1}
  output "y" %norm
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
