#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

// A layer normalization in pieces; `end` makes %y of %centered and %sum.
std::string pieces(const std::string& square, const std::string& end) {
  return R"(network "n" () {
  input %x : float32[2, 3, 4]
  %eps = constant() {} : float32[] data=[0.25]
  %mean = reduce(%x) {op="avg", axes=[2], keep_dims=true}
  %centered = elementwise(%x, %mean) {op="sub"}
  %square = )" +
         square + R"(
  %variance = reduce(%square) {op="avg", axes=[2], keep_dims=true}
  %sum = elementwise(%variance, %eps) {op="sum"}
)" + end +
         R"(
  output "y" %y
})";
}

constexpr const char* kSquare = "unary(%centered) {op=\"square\"}";
constexpr const char* kDivided = R"(  %root = unary(%sum) {op="sqrt"}
  %y = elementwise(%centered, %root) {op="div"})";
constexpr const char* kLayerNorm = R"(network "n" () {
  input %x : float32[2, 3, 4]
  %y = normalization(%x) {mode="layer", eps=0.25, normalized_rank=1}
  output "y" %y
})";

TEST(RecognizeNormalization, FromItsPieces) {
  expectChanged("recognize_normalization", pieces(kSquare, kDivided), kLayerNorm);
}

TEST(RecognizeNormalization, WithTheSquareAsAProduct) {
  expectChanged("recognize_normalization", pieces("elementwise(%centered, %centered) {op=\"prod\"}", kDivided),
                kLayerNorm);
}

TEST(RecognizeNormalization, WithTheReciprocalOfTheRoot) {
  expectChanged("recognize_normalization", pieces(kSquare, R"(  %root = unary(%sum) {op="rsqrt"}
  %y = elementwise(%centered, %root) {op="prod"})"),
                kLayerNorm);
}

TEST(RecognizeNormalization, WithScaleAndBias) {
  expectChanged("recognize_normalization", pieces(kSquare, R"(  %root = unary(%sum) {op="sqrt"}
  %normal = elementwise(%centered, %root) {op="div"}
  %w = constant() {} : float32[1, 4] data=[1, 2, 3, 4]
  %b = constant() {} : float32[4] data=[5, 6, 7, 8]
  %scaled = elementwise(%w, %normal) {op="prod"}
  %y = elementwise(%scaled, %b) {op="sum"})"),
                R"(network "n" () {
  input %x : float32[2, 3, 4]
  %constant_13 = constant() {} : float32[4] data=[1, 2, 3, 4]
  %constant_15 = constant() {} : float32[4] data=[5, 6, 7, 8]
  %y = normalization(%x, %constant_13, %constant_15) {mode="layer", eps=0.25, normalized_rank=1}
  output "y" %y
})");
}

TEST(RecognizeNormalization, OfTheVarianceOverTwoAxes) {
  expectChanged("recognize_normalization", R"(network "n" () {
  input %x : float32[2, 3, 4]
  %eps = constant() {} : float32[] data=[0.25]
  %mean = reduce(%x) {op="avg", axes=[1, 2], keep_dims=true}
  %variance = reduce(%x) {op="var", axes=[1, 2], keep_dims=true, correction=0}
  %sum = elementwise(%variance, %eps) {op="sum"}
  %root = unary(%sum) {op="sqrt"}
  %centered = elementwise(%x, %mean) {op="sub"}
  %y = elementwise(%centered, %root) {op="div"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[2, 3, 4]
  %y = normalization(%x) {mode="layer", eps=0.25, normalized_rank=2}
  output "y" %y
})");
}

TEST(RecognizeNormalization, OfTheRootMeanSquare) {
  expectChanged("recognize_normalization", R"(network "n" () {
  input %x : float32[2, 4]
  %eps = constant() {} : float32[] data=[0.5]
  %square = unary(%x) {op="square"}
  %mean = reduce(%square) {op="avg", axes=[1], keep_dims=true}
  %sum = elementwise(%mean, %eps) {op="sum"}
  %root = unary(%sum) {op="rsqrt"}
  %y = elementwise(%root, %x) {op="prod"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[2, 4]
  %y = normalization(%x) {mode="rms", eps=0.5, normalized_rank=1}
  output "y" %y
})");
}

TEST(RecognizeNormalization, NotOverFirstAxes) {
  expectKept("recognize_normalization", R"(network "n" () {
  input %x : float32[2, 4]
  %eps = constant() {} : float32[] data=[0.25]
  %square = unary(%x) {op="square"}
  %mean = reduce(%square) {op="avg", axes=[0], keep_dims=true}
  %sum = elementwise(%mean, %eps) {op="sum"}
  %root = unary(%sum) {op="rsqrt"}
  %y = elementwise(%x, %root) {op="prod"}
  output "y" %y
})");
}

TEST(RecognizeNormalization, NotWithTheUnbiasedVariance) {
  expectKept("recognize_normalization", R"(network "n" () {
  input %x : float32[2, 4]
  %eps = constant() {} : float32[] data=[0.25]
  %mean = reduce(%x) {op="avg", axes=[1], keep_dims=true}
  %variance = reduce(%x) {op="var", axes=[1], keep_dims=true, correction=1}
  %sum = elementwise(%variance, %eps) {op="sum"}
  %root = unary(%sum) {op="sqrt"}
  %centered = elementwise(%x, %mean) {op="sub"}
  %y = elementwise(%centered, %root) {op="div"}
  output "y" %y
})");
}

TEST(RecognizeNormalization, NotWhereTheRootIsReadElsewhere) {
  expectKept("recognize_normalization", pieces(kSquare, std::string(kDivided) + "\n  output \"root\" %root"));
}

TEST(RecognizeNormalization, NotTheQuotientOfAnother) {
  expectKept("recognize_normalization", R"(network "n" () {
  input %x : float32[2, 4]
  input %z : float32[2, 4]
  %eps = constant() {} : float32[] data=[0.25]
  %square = unary(%x) {op="square"}
  %mean = reduce(%square) {op="avg", axes=[1], keep_dims=true}
  %sum = elementwise(%mean, %eps) {op="sum"}
  %root = unary(%sum) {op="rsqrt"}
  %y = elementwise(%z, %root) {op="prod"}
  output "y" %y
})");
}

TEST(RecognizeNormalization, NotABiasPerRow) {
  expectKept("recognize_normalization", R"(network "n" () {
  input %x : float32[2, 4]
  %b = constant() {} : float32[2, 1] data=[1, 2]
  %normal = normalization(%x) {mode="layer", eps=0.25, normalized_rank=1}
  %y = elementwise(%normal, %b) {op="sum"}
  output "y" %y
})");
}

TEST(RecognizeNormalization, NotAScaleBehindTheBias) {
  expectKept("recognize_normalization", R"(network "n" () {
  input %x : float32[2, 2]
  %w = constant() {} : float32[2] data=[1, 2]
  %b = constant() {} : float32[2] data=[1, 2]
  %normal = normalization(%x, null, %b) {mode="layer", eps=0.25, normalized_rank=1}
  %y = elementwise(%normal, %w) {op="prod"}
  output "y" %y
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
