// One prepared kernel called by many threads at a time.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"

namespace torchtrt::kernels {
namespace {

std::string convolution(const std::string& operands, const std::string& groups) {
  return "convolution float32 " + operands + " {activation=\"relu\", dilation=[1, 1], groups=" + groups +
         ", post_padding=[1, 1], pre_padding=[1, 1], stride=[1, 1]}";
}

TEST(ManyCallers, Convolutions) {
  expectSafeForThreads(convolution("[1,16,14,14]@0231x[40,16,3,3]!x[40] -> [1,40,14,14]@0231", "1"), "packed_gemm");
  expectSafeForThreads(convolution("[1,40,14,14]@0231x[40,1,3,3]!x[40] -> [1,40,14,14]@0231", "40"), "depthwise");
#ifndef TORCHTRT_NO_ONEDNN
  expectSafeForThreads(convolution("[1,64,14,14]@0231x[64,64,3,3]!x[64] -> [1,64,14,14]@0231", "1"), "onednn");
#endif
}

TEST(ManyCallers, Products) {
  expectSafeForThreads("matrix_multiply float32 [7,64]x[64,100]!x[100] -> [7,100] {}", "packed_gemm");
#ifndef TORCHTRT_NO_ONEDNN
  expectSafeForThreads("matrix_multiply float32 [4,9,24]x[4,24,9] -> [4,9,9] {}", "onednn");
#endif
}

TEST(ManyCallers, Rows) {
  expectSafeForThreads("softmax float32 [50,100] -> [50,100] {axis=1, log=false}", "vectors");
  expectSafeForThreads("reduce float32 [50,100] -> [100] {axes=[0], keep_dims=false, op=\"sum\"}", "vectors");
  expectSafeForThreads(
      "normalization float32 [1,24,70,70]@0231 -> [1,24,70,70]@0231 {eps=1e-05, groups=3, mode=\"group\"}", "vectors");
  expectSafeForThreads("reduce float32 [3,40001] -> [3] {axes=[1], keep_dims=false, op=\"norm2\"}", "double_sums");
  expectSafeForThreads("reduce float32 [700,300] -> [300] {axes=[0], keep_dims=false, op=\"avg\"}", "vectors");
}

TEST(WithoutHelpers, ConvolutionsAskNobody) {
  expectAloneWithoutHelpers(convolution("[1,64,28,28]@0231x[64,64,3,3]!x[64] -> [1,64,28,28]@0231", "1"), "winograd");
  expectAloneWithoutHelpers(convolution("[1,64,28,28]@0231x[64,1,3,3]!x[64] -> [1,64,28,28]@0231", "64"), "depthwise");
#ifndef TORCHTRT_NO_ONEDNN
  expectAloneWithoutHelpers(convolution("[1,3,60,60]@0231x[16,3,3,3]!x[16] -> [1,16,60,60]@0231", "1"), "onednn");
  expectAloneWithoutHelpers(
      convolution("[2,96,15,17]@0231x[72,96,3,3]!x[72]x[2,72,15,17]@0231 -> [2,72,15,17]@0231", "1"), "onednn");
#endif
}

}  // namespace
}  // namespace torchtrt::kernels
