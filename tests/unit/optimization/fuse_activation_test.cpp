#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(FuseActivation, IntoConvolutionWithItsResidual) {
  expectChanged("fuse_activation", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %conv = convolution(%x, %w, null, %x) {}
  %act = activation(%conv) {op="clip", alpha=-1, beta=2}
  output "y" %act
})",
                R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : float32[1, 1, 1, 1] data=[2]
  %act = convolution(%x, %w, null, %x) {activation="clip", activation_alpha=-1, activation_beta=2}
  output "y" %act
})");
}

TEST(FuseActivation, IntoEveryKindThatTakesOne) {
  expectChanged("fuse_activation", R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[2, 1]
  %v = constant() {} : float32[2, 2] data=[2, 1, 0, 1]
  %mean = constant() {} : float32[2] data=[1, 2]
  %variance = constant() {} : float32[2] data=[3, 8]
  %a = deconvolution(%x, %w) {}
  %a_act = activation(%a) {op="relu"}
  %b = matrix_multiply(%x, %v) {}
  %b_act = activation(%b) {op="gelu_erf"}
  %c = elementwise(%x, %b_act) {op="sum"}
  %c_act = activation(%c) {op="silu"}
  %d = normalization(%x, null, null, %mean, %variance) {mode="batch", eps=1}
  %d_act = activation(%d) {op="tanh"}
  output "a" %a_act
  output "c" %c_act
  output "d" %d_act
})",
                R"(network "n" () {
  input %x : float32[1, 2, 2, 2]
  %w = constant() {} : float32[2, 1, 1, 1] data=[2, 1]
  %v = constant() {} : float32[2, 2] data=[2, 1, 0, 1]
  %mean = constant() {} : float32[2] data=[1, 2]
  %variance = constant() {} : float32[2] data=[3, 8]
  %a_act = deconvolution(%x, %w) {activation="relu"}
  %b_act = matrix_multiply(%x, %v) {activation="gelu_erf"}
  %c_act = elementwise(%x, %b_act) {op="sum", activation="silu"}
  %d_act = normalization(%x, null, null, %mean, %variance) {mode="batch", eps=1, activation="tanh"}
  output "a" %a_act
  output "c" %c_act
  output "d" %d_act
})");
}

TEST(FuseActivation, NotASecondOne) {
  expectKept("fuse_activation", R"(network "n" () {
  input %x : float32[2]
  %sum = elementwise(%x, %x) {op="sum", activation="relu"}
  %act = activation(%sum) {op="tanh"}
  output "y" %act
})");
}

TEST(FuseActivation, NotWhereOthersReadTheProducer) {
  expectKept("fuse_activation", R"(network "n" () {
  input %x : float32[2]
  %sum = elementwise(%x, %x) {op="sum"}
  %act = activation(%sum) {op="tanh"}
  output "y" %act
  output "sum" %sum
})");
}

TEST(FuseActivation, NotOfIntegers) {
  expectKept("fuse_activation", R"(network "n" () {
  input %x : int64[2]
  %sum = elementwise(%x, %x) {op="sum"}
  %act = activation(%sum) {op="relu"}
  output "y" %act
})");
}

TEST(FuseActivation, NotIntoAKindThatTakesNone) {
  expectKept("fuse_activation", R"(network "n" () {
  input %x : float32[2, 2]
  %soft = softmax(%x) {axis=1}
  %act = activation(%soft) {op="tanh"}
  %input_act = activation(%x) {op="tanh"}
  output "y" %act
  output "z" %input_act
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
