#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

// The sum of a 3x3 convolution with padding of 1 and of another layer of %x, both orders.
std::string sumOf(const std::string& other, const std::string& input = "float32[1, 1, 3, 3]",
                  const std::string& sum = "%conv, %other", const std::string& outputs = "") {
  return R"(network "n" () {
  input %x : )" +
         input + R"(
  %w = constant() {} : float32[1, 1, 3, 3] data=[1, 2, 3, 4, 5, 6, 7, 8, 9]
  %conv = convolution(%x, %w) {pre_padding=[1, 1], post_padding=[1, 1]}
)" + other +
         "  %sum = elementwise(" + sum + R"() {op="sum"}
  output "y" %sum
)" + outputs +
         "}";
}

std::string pointwise(const std::string& attributes) {
  return "  %v = constant() {} : float32[1, 1, 1, 1] data=[10]\n  %other = convolution(%x, %v) {" + attributes + "}\n";
}

TEST(MergeParallelConvolutions, OneByOneGoesToTheMiddleOfThreeByThree) {
  const std::string merged = R"(network "n" () {
  input %x : float32[1, 1, 3, 3]
  %constant_5 = constant() {} : float32[1, 1, 3, 3] data=[1, 2, 3, 4, 15, 6, 7, 8, 9]
  %sum = convolution(%x, %constant_5) {pre_padding=[1, 1], post_padding=[1, 1]}
  output "y" %sum
})";
  expectChanged("merge_parallel_convolutions", sumOf(pointwise("")), merged);
  expectChanged("merge_parallel_convolutions", sumOf(pointwise(""), "float32[1, 1, 3, 3]", "%other, %conv"), merged);
}

TEST(MergeParallelConvolutions, BiasesAndTheActivationOfTheSumStay) {
  expectChanged("merge_parallel_convolutions", R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 2, 3, 3]
  %w = constant() {} : float32[1, 2, 1, 1] data=[1, 2]
  %b = constant() {} : float32[1] data=[5]
  %v = constant() {} : float32[1, 2, 1, 1] data=[10, 20]
  %c = constant() {} : float32[1] data=[50]
  %conv = convolution(%x, %w, %b) {stride=[2, 2]}
  %other = convolution(%x, %v, %c) {stride=[2, 2]}
  %sum = elementwise(%conv, %other) {op="sum", activation="relu"}
  output "y" %sum
})",
                R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 2, 3, 3]
  %constant_7 = constant() {} : float32[1, 2, 1, 1] data=[11, 22]
  %constant_8 = constant() {} : float32[1] data=[55]
  %sum = convolution(%x, %constant_7, %constant_8) {stride=[2, 2], activation="relu"}
  output "y" %sum
})");
}

TEST(MergeParallelConvolutions, TapsAreMatchedByWhatTheyRead) {
  // Two taps, two apart, are the outer ones of three; a line goes into the middle of a square.
  expectChanged("merge_parallel_convolutions", sumOf(R"(  %v = constant() {} : float32[1, 1, 1, 2] data=[10, 20]
  %other = convolution(%x, %v) {pre_padding=[0, 1], post_padding=[0, 1], dilation=[1, 2]}
)"),
                R"(network "n" () {
  input %x : float32[1, 1, 3, 3]
  %constant_5 = constant() {} : float32[1, 1, 3, 3] data=[1, 2, 3, 14, 5, 26, 7, 8, 9]
  %sum = convolution(%x, %constant_5) {pre_padding=[1, 1], post_padding=[1, 1]}
  output "y" %sum
})");
}

TEST(MergeParallelConvolutions, ABatchNormalizationOfTheOperandGoesToTheDiagonal) {
  expectChanged("merge_parallel_convolutions", R"(network "n" () {
  input %x : float32[1, 2, 3, 3]
  %w = constant() {} : float32[2, 2, 1, 1] data=[1, 2, 3, 4]
  %mean = constant() {} : float32[2] data=[1, 0]
  %variance = constant() {} : float32[2] data=[0.25, 0.0625]
  %conv = convolution(%x, %w) {}
  %other = normalization(%x, null, null, %mean, %variance) {mode="batch", eps=0}
  %sum = elementwise(%other, %conv) {op="sum"}
  output "y" %sum
})",
                R"(network "n" () {
  input %x : float32[1, 2, 3, 3]
  %constant_6 = constant() {} : float32[2, 2, 1, 1] data=[3, 2, 3, 8]
  %constant_7 = constant() {} : float32[2] data=[-2, 0]
  %sum = convolution(%x, %constant_6, %constant_7) {}
  output "y" %sum
})");
}

TEST(MergeParallelConvolutions, TheOperandItselfGoesIntoADepthwiseConvolution) {
  expectChanged("merge_parallel_convolutions", R"(network "n" () {
  input %x : float32[1, 2, 3]
  %w = constant() {} : float32[2, 1, 3] data=[1, 2, 3, 4, 5, 6]
  %conv = convolution(%x, %w) {groups=2, pre_padding=[1], post_padding=[1]}
  %sum = elementwise(%conv, %x) {op="sum"}
  output "y" %sum
})",
                R"(network "n" () {
  input %x : float32[1, 2, 3]
  %constant_3 = constant() {} : float32[2, 1, 3] data=[1, 3, 3, 4, 6, 6]
  %sum = convolution(%x, %constant_3) {groups=2, pre_padding=[1], post_padding=[1]}
  output "y" %sum
})");
}

TEST(MergeParallelConvolutions, NotTheOperandItselfIntoOthers) {
  expectKept("merge_parallel_convolutions",
             sumOf("", "float32[1, 1, 3, 3]", "%conv, %x"));  // fuse_residual_add takes it
}

TEST(MergeParallelConvolutions, NotWhereATapFallsBesideTheKernel) {
  expectKept("merge_parallel_convolutions", sumOf(R"(  %v = constant() {} : float32[1, 1, 1, 3] data=[1, 2, 3]
  %other = convolution(%x, %v) {pre_padding=[0, 2], post_padding=[0, 2], dilation=[1, 2]}
)"));
  expectKept("merge_parallel_convolutions",
             sumOf(R"(  %v = constant() {} : float32[1, 1, 3, 3] data=[1, 2, 3, 4, 5, 6, 7, 8, 9]
  %other = convolution(%x, %v) {pre_padding=[2, 1], post_padding=[0, 1]}
)"));
}

TEST(MergeParallelConvolutions, NotOfTwoTensors) {
  expectKept("merge_parallel_convolutions", sumOf(R"(  %r = activation(%x) {op="relu"}
  %v = constant() {} : float32[1, 1, 1, 1] data=[10]
  %other = convolution(%r, %v) {}
)"));
}

TEST(MergeParallelConvolutions, NotPastAnActivation) {
  expectKept("merge_parallel_convolutions", sumOf(pointwise("activation=\"relu\"")));
}

TEST(MergeParallelConvolutions, NotWhereOthersReadABranch) {
  const char* input = "float32[1, 1, 3, 3]";
  expectKept("merge_parallel_convolutions",
             sumOf(pointwise(""), input, "%conv, %other", "  output \"other\" %other\n"));
  expectKept("merge_parallel_convolutions", sumOf(pointwise(""), input, "%conv, %other", "  output \"conv\" %conv\n"));
}

TEST(MergeParallelConvolutions, NotOfOtherStridesOrWhereTheSumBroadcasts) {
  // One reads nine elements and the other a single one of these.
  expectKept("merge_parallel_convolutions", sumOf(pointwise("stride=[3, 3]")));
  expectKept("merge_parallel_convolutions", sumOf(pointwise("stride=[1, 2]"), "float32[1, 1, 3, 1]"));
}

TEST(MergeParallelConvolutions, NotOfOtherGroups) {
  expectKept("merge_parallel_convolutions", R"(network "n" () {
  input %x : float32[1, 2, 3, 3]
  %w = constant() {} : float32[2, 2, 1, 1] data=[1, 2, 3, 4]
  %v = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %conv = convolution(%x, %w) {}
  %other = convolution(%x, %v) {groups=2}
  %sum = elementwise(%conv, %other) {op="sum"}
  output "y" %sum
})");
}

TEST(MergeParallelConvolutions, NotADifferenceAndNotBeyondTheDtype) {
  expectKept("merge_parallel_convolutions", R"(network "n" () {
  input %x : float32[1, 1, 3, 3]
  %w = constant() {} : float32[1, 1, 1, 1] data=[1]
  %v = constant() {} : float32[1, 1, 1, 1] data=[2]
  %conv = convolution(%x, %w) {}
  %other = convolution(%x, %v) {}
  %sum = elementwise(%conv, %other) {op="sub"}
  output "y" %sum
})");
  expectKept("merge_parallel_convolutions", R"(network "n" () {
  input %x : float32[1, 1, 3, 3]
  %w = constant() {} : float32[1, 1, 1, 1] data=[3e38]
  %v = constant() {} : float32[1, 1, 1, 1] data=[2e38]
  %conv = convolution(%x, %w) {}
  %other = convolution(%x, %v) {}
  %sum = elementwise(%conv, %other) {op="sum"}
  output "y" %sum
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
