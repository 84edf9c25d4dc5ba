#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(FoldScaleAndShift, AfterAConvolution) {
  expectChanged("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %b = constant() {} : float32[2] data=[1, -1]
  %factor = constant() {} : float32[2, 1, 1] data=[2, 4]
  %less = constant() {} : float32[] data=[1]
  %conv = convolution(%x, %w, %b) {}
  %scaled = elementwise(%factor, %conv) {op="prod"}
  %y = elementwise(%scaled, %less) {op="sub", activation="relu"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %constant_7 = constant() {} : float32[2, 1, 1, 1] data=[2, 8]
  %constant_10 = constant() {} : float32[2] data=[1, -5]
  %y = convolution(%x, %constant_7, %constant_10) {activation="relu"}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, QuotientAfterAMatrixMultiplication) {
  expectChanged("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %divisor = constant() {} : float32[2] data=[2, 4]
  %product = matrix_multiply(%x, %w) {}
  %y = elementwise(%product, %divisor) {op="div"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[3, 2]
  %constant_4 = constant() {} : float32[2, 2] data=[0.5, 0.5, 1.5, 1]
  %y = matrix_multiply(%x, %constant_4) {}
  output "y" %y
})");
}

// The end of a ConvNeXt block: channels are last for the product and second for the scale.
TEST(FoldScaleAndShift, AfterATranspose) {
  expectChanged("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 3, 3, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %b = constant() {} : float32[2] data=[1, 2]
  %factor = constant() {} : float32[2, 1, 1] data=[2, 4]
  %product = matrix_multiply(%x, %w, %b) {}
  %moved = shuffle(%product) {first_permutation=[0, 3, 1, 2]}
  %y = elementwise(%factor, %moved) {op="prod", activation="relu"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[1, 3, 3, 2]
  %constant_6 = constant() {} : float32[2, 2] data=[2, 8, 6, 16]
  %constant_7 = constant() {} : float32[2] data=[2, 8]
  %matrix_multiply_8 = matrix_multiply(%x, %constant_6, %constant_7) {activation="relu"}
  %y = shuffle(%matrix_multiply_8) {first_permutation=[0, 3, 1, 2]}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, NotAfterATransposeAlongAnotherAxis) {
  expectKept("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %factor = constant() {} : float32[2] data=[2, 4]
  %product = matrix_multiply(%x, %w) {}
  %moved = shuffle(%product) {first_permutation=[0, 3, 1, 2]}
  %y = elementwise(%factor, %moved) {op="prod"}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, ScaleBeforeAPaddedConvolutionWithGroups) {
  expectChanged("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %factor = constant() {} : float32[2, 1, 1] data=[3, 5]
  %scaled = elementwise(%x, %factor) {op="prod"}
  %y = convolution(%scaled, %w) {groups=2, pre_padding=[1, 1], post_padding=[1, 1], activation="relu"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %constant_4 = constant() {} : float32[2, 1, 1, 1] data=[3, 10]
  %y = convolution(%x, %constant_4) {groups=2, pre_padding=[1, 1], post_padding=[1, 1], activation="relu"}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, BatchNormBeforeAnUnpaddedConvolution) {
  expectChanged("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %w = constant() {} : float32[1, 2, 1, 2] data=[1, 2, 3, 4]
  %mean = constant() {} : float32[2] data=[1, 2]
  %variance = constant() {} : float32[2] data=[3, 0]
  %norm = normalization(%x, null, null, %mean, %variance) {mode="batch", eps=1}
  %y = convolution(%norm, %w) {}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %constant_5 = constant() {} : float32[1, 2, 1, 2] data=[0.5, 1, 3, 4]
  %constant_6 = constant() {} : float32[1] data=[-15.5]
  %y = convolution(%x, %constant_5, %constant_6) {}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, BeforeAMatrixMultiplicationWithResidual) {
  expectChanged("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %plus = constant() {} : float32[2] data=[1, 2]
  %shifted = elementwise(%x, %plus) {op="sum"}
  %y = matrix_multiply(%shifted, %w, null, %x) {transpose_b=true}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %constant_4 = constant() {} : float32[2] data=[5, 11]
  %y = matrix_multiply(%x, %w, %constant_4, %x) {transpose_b=true}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, NotAShiftBeforePadding) {
  expectKept("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[1]
  %plus = constant() {} : float32[1] data=[1]
  %shifted = elementwise(%x, %plus) {op="sum"}
  %y = convolution(%shifted, %w) {pre_padding=[1, 0]}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, NotAFactorPerColumn) {
  expectKept("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[1]
  %factor = constant() {} : float32[2] data=[2, 4]
  %conv = convolution(%x, %w) {}
  %y = elementwise(%conv, %factor) {op="prod"}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, NotPastAResidualAnActivationOrAReader) {
  const auto text = [](const std::string& conv, const std::string& output) {
    return R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[1]
  %factor = constant() {} : float32[1] data=[2]
  %conv = convolution()" +
           conv + R"(
  %y = elementwise(%conv, %factor) {op="prod"}
  output "y" %y
)" + output +
           "}";
  };
  expectKept("fold_scale_and_shift", text("%x, %w, null, %x) {}", ""));
  expectKept("fold_scale_and_shift", text("%x, %w) {activation=\"relu\"}", ""));
  expectKept("fold_scale_and_shift", text("%x, %w) {}", "  output \"conv\" %conv\n"));
}

TEST(FoldScaleAndShift, NotByZeroOrInfinity) {
  expectKept("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[1]
  %zero = constant() {} : float32[1] data=[0]
  %conv = convolution(%x, %w) {}
  %y = elementwise(%conv, %zero) {op="div"}
  output "y" %y
})");
}

TEST(FoldScaleAndShift, NotTheOtherWayRound) {
  expectKept("fold_scale_and_shift", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[1]
  %one = constant() {} : float32[1] data=[1]
  %conv = convolution(%x, %w) {}
  %y = elementwise(%one, %conv) {op="sub"}
  output "y" %y
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
