// Passes beside quantized values: an activation, a bias or a residual behind a product that quantizes its result
// belongs to that result, not to the sum. So nothing behind it may be folded into it.
#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

std::string around(const std::string& layers) {
  return R"(network "n" () {
  input %x : uint8[1, 2, 4, 4]
  input %r : float32[1, 2, 4, 4]
  %k = constant() {} : int8[2, 2, 1, 1] data=[1, -2, 3, 4]
  %s = constant() {} : float32[2] data=[0.5, 0.25]
  %m = constant() {} : int8[4, 4] data=[1, -2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7]
  %t = constant() {} : float32[4] data=[0.5, 0.25, 1, 2]
  %b = constant() {} : float32[2, 1, 1] data=[3, 4]
)" + layers +
         R"(
  output "y" %y
})";
}

const char* const kBehindProducts[] = {"fold_scale_and_shift",
                                       "fuse_bias",
                                       "fuse_residual_add",
                                       "fuse_activation",
                                       "fold_batch_norm",
                                       "fold_padding",
                                       "fold_transpose_into_matrix_multiply"};

TEST(QuantizedLayers, StepsAreActivatedBehindTheirProducts) {
  for (const char* pass : kBehindProducts) {
    expectKept(pass, around(R"(
  %c = quantized_convolution(%x, %k, %s) {to=int8, low=-127, high=127}
  %y = activation(%c) {op="relu"})"));
    expectKept(pass, around(R"(
  %c = quantized_matrix_multiply(%x, %m, %t) {to=uint8, low=0, high=255}
  %y = activation(%c) {op="clip", alpha=1, beta=2})"));
  }
}

TEST(QuantizedLayers, WhatIsReadBackIsAddedToBehindTheirProducts) {
  for (const char* pass : kBehindProducts) {
    for (const char* other : {"%r", "%b"}) {
      expectKept(pass, around(R"(
  %c = quantized_convolution(%x, %k, %s) {to=int8, low=-127, high=127}
  %d = dequantize(%c) {scale=0.5}
  %e = elementwise(%d, )" + std::string(other) +
                              R"() {op="sum"}
  %f = quantize(%e) {to=int8, scale=0.25, low=-127, high=127}
  %y = activation(%f) {op="relu"})"));
    }
  }
}

TEST(QuantizedLayers, ExplicitPaddingOfStepsStays) {
  // Zeros are not the zero point, which is what a product pads with.
  expectKept("fold_padding", around(R"(
  %p = padding(%x) {pre=[0, 0, 1, 1], post=[0, 0, 1, 1]}
  %y = quantized_convolution(%p, %k, %s) {to=float32, zero_point=7})"));
}

TEST(QuantizedLayers, OfConstantsAreComputedNow) {
  expectOptimized(R"(network "n" () {
  %x = constant() {} : float32[3] data=[0.5, 0.75, -100]
  %y = quantize(%x) {to=uint8, scale=0.5, zero_point=10, low=0, high=255}
  %z = dequantize(%y) {scale=0.25, zero_point=10}
  output "y" %y
  output "z" %z
})",
                  R"(network "n" () {
  %y = constant() {} : uint8[3] data=[11, 12, 0]
  %z = constant() {} : float32[3] data=[0.25, 0.5, -2.5]
  output "y" %y
  output "z" %z
})");
}

TEST(QuantizedLayers, EqualStepsAreMadeOnce) {
  expectChanged("merge_common_subexpressions", R"(network "n" () {
  input %x : float32[3]
  %a = quantize(%x) {to=int8, scale=0.5, low=-127, high=127}
  %b = quantize(%x) {to=int8, scale=0.5, low=-127, high=127}
  %c = quantize(%x) {to=int8, scale=0.5, low=-128, high=127}
  output "a" %a
  output "b" %b
  output "c" %c
})",
                R"(network "n" () {
  input %x : float32[3]
  %a = quantize(%x) {to=int8, scale=0.5, low=-127, high=127}
  %c = quantize(%x) {to=int8, scale=0.5, low=-128, high=127}
  output "a" %a
  output "b" %a
  output "c" %c
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
