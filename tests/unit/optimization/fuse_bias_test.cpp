#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(FuseBias, IntoAConvolutionWithoutOne) {
  expectChanged("fuse_bias", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %plus = constant() {} : float32[1, 2, 1, 1] data=[3, 4]
  %conv = convolution(%x, %w) {}
  %y = elementwise(%plus, %conv) {op="sum", activation="relu"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %constant_4 = constant() {} : float32[2] data=[3, 4]
  %y = convolution(%x, %w, %constant_4) {activation="relu"}
  output "y" %y
})");
}

TEST(FuseBias, IntoTheBiasOfAMatrixMultiplication) {
  expectChanged("fuse_bias", R"(network "n" () {
  input %x : float32[4, 3, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %b = constant() {} : float32[1, 2] data=[1, 2]
  %plus = constant() {} : float32[] data=[0.5]
  %product = matrix_multiply(%x, %w, %b) {}
  %y = elementwise(%product, %plus) {op="sum"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[4, 3, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %constant_5 = constant() {} : float32[2] data=[1.5, 2.5]
  %y = matrix_multiply(%x, %w, %constant_5) {}
  output "y" %y
})");
}

TEST(FuseBias, NotOnePerRow) {
  expectKept("fuse_bias", R"(network "n" () {
  input %x : float32[3, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %plus = constant() {} : float32[3, 1] data=[1, 2, 3]
  %product = matrix_multiply(%x, %w) {}
  %y = elementwise(%product, %plus) {op="sum"}
  output "y" %y
})");
}

TEST(FuseBias, NotOneThatEnlargesTheOutput) {
  expectKept("fuse_bias", R"(network "n" () {
  input %x : float32[1, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %plus = constant() {} : float32[1, 1, 2] data=[1, 2]
  %product = matrix_multiply(%x, %w) {}
  %y = elementwise(%product, %plus) {op="sum"}
  output "y" %y
})");
}

TEST(FuseBias, NotOneKnownAtRunTimeOnly) {
  expectKept("fuse_bias", R"(network "n" () {
  input %x : float32[3, 2]
  input %plus : float32[2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %product = matrix_multiply(%x, %w) {}
  %y = elementwise(%product, %plus) {op="sum"}
  output "y" %y
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
