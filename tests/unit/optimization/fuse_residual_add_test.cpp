#include <gtest/gtest.h>

#include "optimization/optimization.h"
#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(FuseResidualAdd, IntoAConvolutionWhereTheSumStood) {
  // The residual is computed after the convolution: the fused layer must come after both.
  expectChanged("fuse_residual_add", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %conv = convolution(%x, %w) {}
  %shortcut = activation(%x) {op="relu"}
  %sum = elementwise(%shortcut, %conv) {op="sum", activation="relu"}
  output "y" %sum
})",
                R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %shortcut = activation(%x) {op="relu"}
  %sum = convolution(%x, %w, null, %shortcut) {activation="relu"}
  output "y" %sum
})");
}

TEST(FuseResidualAdd, BehindAScale) {
  const auto network = network::parse(R"(network "n" () {
  input %x : bfloat16[1, 1, 2, 2]
  %w = constant() {} : bfloat16[1, 1, 1, 1] data=[2]
  %s = constant() {} : float32[1] data=[3]
  %conv = convolution(%x, %w, null, null, %s) {}
  %sum = elementwise(%x, %conv) {op="sum"}
  output "y" %sum
})");
  createManager({"fuse_residual_add"}).run(*network);
  EXPECT_EQ(network::print(*network), network::print(*network::parse(R"(network "n" () {
  input %x : bfloat16[1, 1, 2, 2]
  %w = constant() {} : bfloat16[1, 1, 1, 1] data=[2]
  %s = constant() {} : float32[1] data=[3]
  %sum = convolution(%x, %w, null, %x, %s) {}
  output "y" %sum
})")));
}

TEST(FuseResidualAdd, IntoAMatrixMultiplicationWithBias) {
  expectChanged("fuse_residual_add", R"(network "n" () {
  input %x : float32[2, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %b = constant() {} : float32[2] data=[1, 2]
  %product = matrix_multiply(%x, %w, %b) {}
  %sum = elementwise(%product, %x) {op="sum"}
  output "y" %sum
})",
                R"(network "n" () {
  input %x : float32[2, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %b = constant() {} : float32[2] data=[1, 2]
  %sum = matrix_multiply(%x, %w, %b, %x) {}
  output "y" %sum
})");
}

TEST(FuseResidualAdd, TakesOneConvolutionOfTwo) {
  expectChanged("fuse_residual_add", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %v = constant() {} : float32[1, 1, 1, 1] data=[3]
  %main = convolution(%x, %w) {}
  %shortcut = convolution(%x, %v) {}
  %sum = elementwise(%main, %shortcut) {op="sum"}
  output "y" %sum
})",
                R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %v = constant() {} : float32[1, 1, 1, 1] data=[3]
  %shortcut = convolution(%x, %v) {}
  %sum = convolution(%x, %w, null, %shortcut) {}
  output "y" %sum
})");
}

TEST(FuseResidualAdd, OfSymbolicShape) {
  expectChanged("fuse_residual_add", R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %conv = convolution(%x, %w) {}
  %sum = elementwise(%conv, %x) {op="sum"}
  output "y" %sum
})",
                R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %sum = convolution(%x, %w, null, %x) {}
  output "y" %sum
})");
}

std::string sumOf(const std::string& conv_attributes, const std::string& other, const std::string& op,
                  const std::string& outputs) {
  return R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  input %row : float32[2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %conv = convolution(%x, %w) {)" +
         conv_attributes + R"(}
  %sum = elementwise(%conv, )" +
         other + ") {op=\"" + op + R"("}
  output "y" %sum
)" + outputs +
         "}";
}

TEST(FuseResidualAdd, NotPastAnActivation) {
  expectKept("fuse_residual_add", sumOf("activation=\"relu\"", "%x", "sum", ""));
}

TEST(FuseResidualAdd, NotWhereOthersReadTheConvolution) {
  expectKept("fuse_residual_add", sumOf("", "%x", "sum", "  output \"conv\" %conv\n"));
  expectKept("fuse_residual_add", sumOf("", "%conv", "sum", ""));
}

TEST(FuseResidualAdd, NotWhereTheResidualIsBroadcast) {
  expectKept("fuse_residual_add", sumOf("", "%row", "sum", ""));
}

TEST(FuseResidualAdd, NotIntoADepthwiseConvolution) {
  expectKept("fuse_residual_add", R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[2, 3]
  %conv = convolution(%x, %w) {groups=2}
  %sum = elementwise(%conv, %x) {op="sum"}
  output "y" %sum
})");
}

TEST(FuseResidualAdd, NotADifference) {
  expectKept("fuse_residual_add", sumOf("", "%x", "sub", ""));
}

TEST(FuseResidualAdd, NotASecondResidual) {
  expectKept("fuse_residual_add", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %conv = convolution(%x, %w, null, %x) {}
  %sum = elementwise(%conv, %x) {op="sum"}
  output "y" %sum
})");
}

TEST(FuseResidualAdd, NotWhereTheConvolutionIsBroadcast) {
  expectKept("fuse_residual_add", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  input %y : float32[3, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %conv = convolution(%x, %w) {}
  %sum = elementwise(%conv, %y) {op="sum"}
  output "y" %sum
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
