// A constant that is added to the operand of the GPT attention plugin becomes an operand of it.
#include <gtest/gtest.h>

#include <string>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

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

// It may have a field of the same name and of another type.
TEST(FuseAttentionWithBias, NotIntoAPluginWithOtherFields) {
  expectKept("fuse_attention_with_bias", R"(network "n" () {
  input %q : float32[2, 3, 8]
  %b = constant() {} : float32[8] data=[1, 2, 3, 4, 5, 6, 7, 8]
  %sum = elementwise(%q, %b) {op="sum"}
  %y = plugin_v2(%sum, %sum, %sum) {namespace="torchtrt", type="Attention", version="1", operands=false, scale=1.0, transpose_k=true}
  output "y" %y
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
