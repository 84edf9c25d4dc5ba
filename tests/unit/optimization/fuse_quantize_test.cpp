#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(FuseQuantize, IntoAConvolutionWithAllThatItApplies) {
  expectChanged("fuse_quantize", R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : int8[1, 1, 1, 1] data=[2]
  %s = constant() {} : float32[1] data=[0.25]
  %b = constant() {} : float32[1] data=[1]
  %steps = quantize(%x) {to=uint8, scale=0.5, zero_point=8, low=0, high=255}
  %product = quantized_convolution(%steps, %w, %s, %b, %x) {zero_point=8, to=float32, activation="relu"}
  %y = quantize(%product) {to=int8, scale=0.125, zero_point=3, low=-100, high=100}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[1, 1, 2, 2]
  %w = constant() {} : int8[1, 1, 1, 1] data=[2]
  %s = constant() {} : float32[1] data=[0.25]
  %b = constant() {} : float32[1] data=[1]
  %steps = quantize(%x) {to=uint8, scale=0.5, zero_point=8, low=0, high=255}
  %y = quantized_convolution(%steps, %w, %s, %b, %x) {zero_point=8, to=int8, activation="relu", output_scale=0.125, output_zero_point=3, low=-100, high=100}
  output "y" %y
})");
}

std::string product(const std::string& rest) {
  return R"(network "n" (s0 in [1, 2, 4]) {
  input %input : float32[s0, 3, 2]
  %w = constant() {} : int8[2, 2] data=[1, 2, 3, 4]
  %s = constant() {} : float32[2] data=[0.25, 0.5]
  %x = quantize(%input) {to=int8, scale=0.25, low=-127, high=127}
  )" + rest +
         R"(  output "y" %y
})";
}

TEST(FuseQuantize, IntoAMatrixMultiplication) {
  expectChanged("fuse_quantize", product(R"(%product = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %y = quantize(%product) {to=uint8, scale=0.5, low=0, high=255}
)"),
                product(R"(%y = quantized_matrix_multiply(%x, %w, %s) {to=uint8, output_scale=0.5, low=0, high=255}
)"));
}

TEST(FuseQuantize, ThroughShuffles) {
  expectChanged(
      "fuse_quantize", product(R"(%product = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %turned = shuffle(%product) {first_permutation=[0, 2, 1]}
  %flat = shuffle(%turned) {reshape_dims=[0, 6]}
  %y = quantize(%flat) {to=uint8, scale=0.5, low=0, high=255}
)"),
      product(R"(%quantize_9 = quantized_matrix_multiply(%x, %w, %s) {to=uint8, output_scale=0.5, low=0, high=255}
  %quantize_7 = shuffle(%quantize_9) {first_permutation=[0, 2, 1]}
  %y = shuffle(%quantize_7) {reshape_dims=[0, 6]}
)"));
}

std::string pooledConvolution(const std::string& product, const std::string& rest) {
  return R"(network "n" () {
  input %x : float32[1, 1, 4, 4]
  %w = constant() {} : int8[2, 1, 1, 1] data=[2, -3]
  %s = constant() {} : float32[2] data=[0.25, 0.5]
  %steps = quantize(%x) {to=uint8, scale=0.5, zero_point=8, low=0, high=255}
  )" + product +
         R"( = quantized_convolution(%steps, %w, %s) {zero_point=8, )" + rest + R"(  output "y" %y
})";
}

TEST(FuseQuantize, ThroughMaxPooling) {
  expectChanged(
      "fuse_quantize", pooledConvolution("%product", R"(to=float32, activation="relu"}
  %pooled = pooling(%product) {op="max", window=[3, 2], stride=[2, 2], pre_padding=[1, 0], post_padding=[1, 0]}
  %y = quantize(%pooled) {to=uint8, scale=0.5, zero_point=3, low=0, high=255}
)"),
      pooledConvolution("%quantize_6", R"(to=uint8, activation="relu", output_scale=0.5, output_zero_point=3, high=255}
  %y = pooling(%quantize_6) {op="max", window=[3, 2], stride=[2, 2], pre_padding=[1, 0], post_padding=[1, 0]}
)"));
}

TEST(FuseQuantize, NotThroughOtherPooling) {
  for (const char* pooling : {R"(op="average", window=[2, 2])", R"(op="max", window=[2, 2], dilation=[2, 2])",
                              R"(op="max", window=[2, 2], return_indices=true)"}) {
    SCOPED_TRACE(pooling);
    expectKept("fuse_quantize", pooledConvolution("%product", R"(to=float32}
  %pooled)" + std::string(std::string(pooling).find("indices") == std::string::npos ? "" : ", %indices") +
                                                                  R"( = pooling(%product) {)" + pooling + R"(}
  %y = quantize(%pooled) {to=uint8, scale=0.5, low=0, high=255}
)"));
  }
}

TEST(FuseQuantize, IntoAllThatIsConcatenated) {
  expectChanged(
      "fuse_quantize", product(R"(%a = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %b = quantized_matrix_multiply(%x, %w, %s) {to=float32, activation="relu"}
  %c = shuffle(%b) {reshape_dims=[0, 1, 6]}
  %d = shuffle(%a) {reshape_dims=[0, 1, 6]}
  %joined = concatenation(%c, %d) {axis=1}
  %y = quantize(%joined) {to=uint8, scale=0.5, low=0, high=255}
)"),
      product(
          R"(%quantize_12 = quantized_matrix_multiply(%x, %w, %s) {to=uint8, activation="relu", output_scale=0.5, low=0, high=255}
  %quantize_9 = shuffle(%quantize_12) {reshape_dims=[0, 1, 6]}
  %quantize_14 = quantized_matrix_multiply(%x, %w, %s) {to=uint8, output_scale=0.5, low=0, high=255}
  %quantize_10 = shuffle(%quantize_14) {reshape_dims=[0, 1, 6]}
  %y = concatenation(%quantize_9, %quantize_10) {axis=1}
)"));
}

TEST(FuseQuantize, InFrontOfConcatenationsOfAFew) {
  expectChanged(
      "fuse_quantize", product(R"(%a = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %joined = concatenation(%a, %input) {axis=1}
  %y = quantize(%joined) {to=uint8, scale=0.5, low=0, high=255}
)"),
      product(R"(%quantize_6 = quantized_matrix_multiply(%x, %w, %s) {to=uint8, output_scale=0.5, low=0, high=255}
  %quantize_7 = quantize(%input) {to=uint8, scale=0.5, low=0, high=255}
  %y = concatenation(%quantize_6, %quantize_7) {axis=1}
)"));
}

TEST(FuseQuantize, NotInFrontOfConcatenationsOfMany) {
  for (const char* operands : {"%a, %input, %input, %input, %input", "%a, %a, %a, %a, %a"}) {
    expectKept("fuse_quantize", product(R"(%a = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %joined = concatenation()" + std::string(operands) +
                                        R"() {axis=1}
  %y = quantize(%joined) {to=uint8, scale=0.5, low=0, high=255}
)"));
  }
}

TEST(FuseQuantize, NotThroughMaxPoolingOfAFloatResidual) {
  expectKept("fuse_quantize", R"(network "n" () {
  input %x : float32[1, 1, 4, 4]
  %w = constant() {} : int8[1, 1, 1, 1] data=[2]
  %s = constant() {} : float32[1] data=[0.25]
  %steps = quantize(%x) {to=uint8, scale=0.5, zero_point=8, low=0, high=255}
  %product = quantized_convolution(%steps, %w, %s, null, %x) {zero_point=8, to=float32}
  %pooled = pooling(%product) {op="max", window=[2, 2]}
  %y = quantize(%pooled) {to=uint8, scale=0.5, low=0, high=255}
  output "y" %y
})");
}

TEST(FuseQuantize, NotWhereTheProductIsReadInFloat) {
  expectKept("fuse_quantize", product(R"(%product = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %y = quantize(%product) {to=uint8, scale=0.5, low=0, high=255}
  output "product" %product
)"));
  // Two readers that want other steps.
  expectKept("fuse_quantize", product(R"(%product = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %y = quantize(%product) {to=uint8, scale=0.5, low=0, high=255}
  %z = quantize(%product) {to=uint8, scale=0.25, low=0, high=255}
  output "z" %z
)"));
}

TEST(FuseQuantize, NotWhereAShuffleIsReadInFloat) {
  expectKept("fuse_quantize", product(R"(%product = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %turned = shuffle(%product) {first_permutation=[0, 2, 1]}
  %y = quantize(%turned) {to=uint8, scale=0.5, low=0, high=255}
  output "turned" %turned
)"));
  expectKept("fuse_quantize", product(R"(%product = quantized_matrix_multiply(%x, %w, %s) {to=float32}
  %turned = shuffle(%product) {first_permutation=[0, 2, 1]}
  %y = quantize(%turned) {to=uint8, scale=0.5, low=0, high=255}
  output "product" %product
)"));
}

TEST(FuseQuantize, NotIntoAProductThatGivesSteps) {
  expectKept("fuse_quantize",
             product(R"(%product = quantized_matrix_multiply(%x, %w, %s) {to=uint8, output_scale=0.5, low=0, high=255}
  %float = dequantize(%product) {scale=0.5}
  %y = quantize(%float) {to=uint8, scale=0.5, low=0, high=255}
)"));
}

TEST(FuseQuantize, NotIntoAFloatProduct) {
  expectKept("fuse_quantize", R"(network "n" () {
  input %x : float32[2, 2]
  %w = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %product = matrix_multiply(%x, %w) {}
  %turned = shuffle(%product) {first_permutation=[1, 0]}
  %y = quantize(%turned) {to=uint8, scale=0.5, low=0, high=255}
  output "y" %y
})");
}

TEST(FuseQuantize, NotBeforeAnInput) {
  expectKept("fuse_quantize", R"(network "n" () {
  input %x : float32[2, 2]
  %turned = shuffle(%x) {first_permutation=[1, 0]}
  %y = quantize(%turned) {to=uint8, scale=0.5, low=0, high=255}
  output "y" %y
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
