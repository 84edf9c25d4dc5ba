#include <gtest/gtest.h>

#include "optimization/optimization.h"
#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

using network::Tensor;

std::string attention(const std::string& inputs, const std::string& scores, const std::string& rest = "") {
  return R"(network "n" (s0 in [1, 2, 4]) {
  input %q : float32[s0, 2, 5, 8]
  input %v : float32[s0, 2, 3, 4]
)" + inputs +
         scores + R"(
  %weights = softmax(%scores) {axis=3}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
)" + rest +
         "}";
}

constexpr const char* kKeys = "  input %k : float32[s0, 2, 8, 3]\n";
constexpr const char* kScores = "  %scores = matrix_multiply(%q, %k) {}";

std::string fused(const std::string& inputs, const std::string& operands, const std::string& fields) {
  return R"(network "n" (s0 in [1, 2, 4]) {
  input %q : float32[s0, 2, 5, 8]
  input %v : float32[s0, 2, 3, 4]
)" + inputs +
         "  %y = plugin_v2(" + operands + ") {namespace=\"torchtrt\", type=\"Attention\", version=\"1\", " + fields +
         R"(}
  output "y" %y
})";
}

TEST(FuseAttention, WithoutScale) {
  expectChanged("fuse_attention", attention(kKeys, kScores),
                fused(kKeys, "%q, %k, %v", "scale=1.0, transpose_k=false"));
}

TEST(FuseAttention, OfTransposedKeysWithScale) {
  const std::string keys = "  input %k : float32[s0, 2, 3, 8]\n";
  expectChanged("fuse_attention", attention(keys, R"(  %half = constant() {} : float32[] data=[0.5]
  %product = matrix_multiply(%q, %k) {transpose_b=true}
  %scores = elementwise(%product, %half) {op="prod"})"),
                fused(keys, "%q, %k, %v", "scale=0.5, transpose_k=true"));
}

TEST(FuseAttention, WithDivisorAndMask) {
  const std::string inputs = std::string(kKeys) + "  input %mask : float32[5, 3]\n";
  expectChanged("fuse_attention", attention(inputs, R"(  %two = constant() {} : float32[1] data=[2]
  %product = matrix_multiply(%q, %k) {}
  %scaled = elementwise(%product, %two) {op="div"}
  %scores = elementwise(%mask, %scaled) {op="sum"})"),
                fused(inputs, "%q, %k, %v, %mask", "scale=0.5, transpose_k=false"));
}

TEST(FuseAttention, NotWhereTheScoresAreReadElsewhere) {
  expectKept("fuse_attention", attention(kKeys, kScores, "  output \"scores\" %scores\n"));
}

TEST(FuseAttention, NotAMaskAddedBeforeTheScale) {
  expectKept("fuse_attention", attention(std::string(kKeys) + "  input %mask : float32[5, 3]\n",
                                         R"(  %two = constant() {} : float32[1] data=[2]
  %product = matrix_multiply(%q, %k) {}
  %masked = elementwise(%product, %mask) {op="sum"}
  %scores = elementwise(%masked, %two) {op="div"})"));
}

TEST(FuseAttention, NotWithAnActivationOnTheScores) {
  expectKept("fuse_attention", attention(kKeys, "  %scores = matrix_multiply(%q, %k) {activation=\"relu\"}"));
}

TEST(FuseAttention, NotOverAnotherAxis) {
  expectKept("fuse_attention", R"(network "n" () {
  input %q : float32[2, 3, 8]
  input %k : float32[2, 8, 3]
  input %v : float32[2, 3, 4]
  %scores = matrix_multiply(%q, %k) {}
  %weights = softmax(%scores) {axis=1}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})");
}

TEST(FuseAttention, NotWhereKeysAreSharedAmongTheBatch) {
  expectKept("fuse_attention", R"(network "n" () {
  input %q : float32[2, 3, 8]
  input %k : float32[1, 8, 3]
  input %v : float32[2, 3, 4]
  %scores = matrix_multiply(%q, %k) {}
  %weights = softmax(%scores) {axis=2}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})");
}

TEST(FuseAttention, NotInDouble) {
  expectKept("fuse_attention", R"(network "n" () {
  input %q : float64[2, 3, 8]
  input %k : float64[2, 8, 3]
  input %v : float64[2, 3, 4]
  %scores = matrix_multiply(%q, %k) {}
  %weights = softmax(%scores) {axis=2}
  %y = matrix_multiply(%weights, %v) {}
  output "y" %y
})");
}

TEST(FuseAttention, OnlyWhereItIsFaster) {
  const auto fused = [](int64_t queries, int64_t keys) {
    network::Network network;
    const auto input = [&](const char* name, const Dims& dims) {
      return network.addInput(name, DType::kFloat32, dims);
    };
    Tensor* scores =
        network.addMatrixMultiply(*input("q", {1, queries, 8}), false, *input("k", {1, 8, keys}), false)->getOutput(0);
    Tensor* weights = network.addSoftMax(*scores, 2)->getOutput(0);
    network.markOutput(*network.addMatrixMultiply(*weights, false, *input("v", {1, keys, 8}), false)->getOutput(0));
    return createManager({"fuse_attention"}).run(network);
  };
  EXPECT_TRUE(fused(256, 1024));
  EXPECT_FALSE(fused(255, 1024));
  EXPECT_FALSE(fused(256, 1023));
}

std::string gpt(const std::string& bias_dims, const std::string& data, const std::string& rest = "") {
  return R"(network "n" () {
  input %x : float32[2, 3, 12]
  %b = constant() {} : float32)" +
         bias_dims + " data=" + data + R"(
  %qkv = elementwise(%x, %b) {op="sum"}
  %y = plugin_v2(%qkv) {namespace="tensorrt_llm", type="GPTAttention", version="1", num_heads=2, head_size=2, operands="qkv"}
  output "y" %y
)" + rest +
         "}";
}

TEST(FuseAttentionWithBias, GivesTheBiasToThePlugin) {
  expectChanged("fuse_attention_with_bias", gpt("[1, 12]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"),
                R"(network "n" () {
  input %x : float32[2, 3, 12]
  %constant_3 = constant() {} : float32[12] data=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %y = plugin_v2(%x, %constant_3) {namespace="tensorrt_llm", type="GPTAttention", version="1", head_size=2, num_heads=2, operands="qkv,qkv_bias"}
  output "y" %y
})");
}

TEST(FuseAttentionWithBias, NotABiasForAllChannels) {
  expectKept("fuse_attention_with_bias", gpt("[1]", "[1]"));
}

TEST(FuseAttentionWithBias, NotWhereTheSumIsReadElsewhere) {
  expectKept("fuse_attention_with_bias",
             gpt("[12]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]", "  output \"qkv\" %qkv\n"));
}

TEST(FuseAttentionWithBias, NotIntoAnotherPlugin) {
  expectKept("fuse_attention_with_bias", R"(network "n" () {
  input %q : float32[2, 3, 8]
  %b = constant() {} : float32[8] data=[1, 2, 3, 4, 5, 6, 7, 8]
  %sum = elementwise(%q, %b) {op="sum"}
  %y = plugin_v2(%sum, %sum, %sum) {namespace="torchtrt", type="Attention", version="1", scale=1.0, transpose_k=true}
  output "y" %y
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
