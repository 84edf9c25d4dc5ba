// Products of one tensor that one attention reads become one product, whose channels the attention reads.
#include <gtest/gtest.h>

#include <string>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

const std::string kHeads =
    R"(namespace="torchtrt", type="Attention", version="1", heads=1, head_size=2, value_size=2, sequence_first=false, )"
    R"(scale=0.01, transpose_k=true, )";

std::string network(const std::string& lines, const std::string& dtype = "float32") {
  return "network \"n\" () {\n  input %x : " + dtype + "[1, 3, 2]\n  input %y : " + dtype + "[1, 3, 2]\n" + lines +
         "  output \"a\" %a\n}";
}

std::string weights(const std::string& name, const std::string& data, const std::string& type = "float32[2, 2]") {
  return "  %" + name + " = constant() {} : " + type + " data=[" + data + "]\n";
}

const std::string kWeights = weights("wq", "1, 2, 3, 4") + weights("wk", "5, 6, 7, 8") + weights("wv", "9, 10, 11, 12");

std::string attention(const std::string& operands = "%q, %k, %v",
                      const std::string& channels = "q_channel=0, k_channel=0, v_channel=0") {
  return "  %a = plugin_v2(" + operands + ") {" + kHeads + channels + "}\n";
}

std::string products(const std::string& attributes = "") {
  return "  %q = matrix_multiply(%x, %wq) {" + attributes + "}\n  %k = matrix_multiply(%x, %wk) {" + attributes +
         "}\n  %v = matrix_multiply(%x, %wv) {" + attributes + "}\n";
}

void expectMerged(const std::string& before, const std::string& after) {
  expectChanged("merge_attention_products", network(before), network(after));
}

void expectApart(const std::string& lines) {
  expectKept("merge_attention_products", network(lines));
}

TEST(MergeAttentionProducts, OfOneTensor) {
  expectMerged(kWeights + products() + attention(),
               weights("constant_7", "1, 2, 5, 6, 9, 10, 3, 4, 7, 8, 11, 12", "float32[2, 6]") +
                   "  %matrix_multiply_8 = matrix_multiply(%x, %constant_7) {}\n" +
                   attention("%matrix_multiply_8, %matrix_multiply_8, %matrix_multiply_8",
                             "q_channel=0, k_channel=2, v_channel=4"));
}

TEST(MergeAttentionProducts, TransposedWeights) {
  expectMerged(kWeights + products("transpose_b=true") + attention(),
               weights("constant_7", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12", "float32[6, 2]") +
                   "  %matrix_multiply_8 = matrix_multiply(%x, %constant_7) {transpose_b=true}\n" +
                   attention("%matrix_multiply_8, %matrix_multiply_8, %matrix_multiply_8",
                             "q_channel=0, k_channel=2, v_channel=4"));
}

TEST(MergeAttentionProducts, AProductWithoutABiasAddsZeros) {
  expectMerged(kWeights + weights("bq", "0.5, 0.25", "float32[2]") + weights("bv", "1.5, 1.25", "float32[1, 1, 2]") +
                   "  %q = matrix_multiply(%x, %wq, %bq) {}\n  %k = matrix_multiply(%x, %wk) {}\n" +
                   "  %v = matrix_multiply(%x, %wv, %bv) {}\n" + attention(),
               weights("constant_9", "1, 2, 5, 6, 9, 10, 3, 4, 7, 8, 11, 12", "float32[2, 6]") +
                   weights("constant_10", "0.5, 0.25, 0, 0, 1.5, 1.25", "float32[6]") +
                   "  %matrix_multiply_11 = matrix_multiply(%x, %constant_9, %constant_10) {}\n" +
                   attention("%matrix_multiply_11, %matrix_multiply_11, %matrix_multiply_11",
                             "q_channel=0, k_channel=2, v_channel=4"));
}

TEST(MergeAttentionProducts, KeysAndValuesOfAnotherTensor) {
  expectMerged(kWeights + "  %q = matrix_multiply(%x, %wq) {}\n  %k = matrix_multiply(%y, %wk) {}\n" +
                   "  %v = matrix_multiply(%y, %wv) {}\n" + attention(),
               weights("wq", "1, 2, 3, 4") + "  %q = matrix_multiply(%x, %wq) {}\n" +
                   weights("constant_7", "5, 6, 9, 10, 7, 8, 11, 12", "float32[2, 4]") +
                   "  %matrix_multiply_8 = matrix_multiply(%y, %constant_7) {}\n" +
                   attention("%q, %matrix_multiply_8, %matrix_multiply_8", "q_channel=0, k_channel=0, v_channel=2"));
}

TEST(MergeAttentionProducts, QueriesAndValuesOfOneTensor) {
  expectMerged(kWeights + "  %q = matrix_multiply(%x, %wq) {}\n  %k = matrix_multiply(%y, %wk) {}\n" +
                   "  %v = matrix_multiply(%x, %wv) {}\n" + attention(),
               weights("wk", "5, 6, 7, 8") + "  %k = matrix_multiply(%y, %wk) {}\n" +
                   weights("constant_7", "1, 2, 9, 10, 3, 4, 11, 12", "float32[2, 4]") +
                   "  %matrix_multiply_8 = matrix_multiply(%x, %constant_7) {}\n" +
                   attention("%matrix_multiply_8, %k, %matrix_multiply_8", "q_channel=0, k_channel=0, v_channel=2"));
}

TEST(MergeAttentionProducts, WidthsDifferAndTwoOperandsShareAProduct) {
  expectMerged(weights("wq", "1, 2, 3, 4, 5, 6", "float32[2, 3]") + weights("wv", "9, 10, 11, 12") +
                   "  %q = matrix_multiply(%x, %wq) {}\n  %v = matrix_multiply(%x, %wv) {}\n" +
                   attention("%q, %q, %v", "q_channel=1, k_channel=0, v_channel=0"),
               weights("constant_5", "1, 2, 3, 9, 10, 4, 5, 6, 11, 12", "float32[2, 5]") +
                   "  %matrix_multiply_6 = matrix_multiply(%x, %constant_5) {}\n" +
                   attention("%matrix_multiply_6, %matrix_multiply_6, %matrix_multiply_6",
                             "q_channel=1, k_channel=0, v_channel=3"));
}

TEST(MergeAttentionProducts, NotWhatIsMergedAlready) {
  expectApart(weights("w", "1, 2, 5, 6, 9, 10, 3, 4, 7, 8, 11, 12", "float32[2, 6]") +
              "  %m = matrix_multiply(%x, %w) {}\n" + attention("%m, %m, %m", "q_channel=0, k_channel=2, v_channel=4"));
}

TEST(MergeAttentionProducts, NotOfThreeTensors) {
  expectApart(kWeights + "  %z = activation(%x) {op=\"relu\"}\n  %q = matrix_multiply(%x, %wq) {}\n" +
              "  %k = matrix_multiply(%y, %wk) {}\n  %v = matrix_multiply(%z, %wv) {}\n" + attention());
}

TEST(MergeAttentionProducts, NotWhereOthersReadTheProducts) {
  expectApart(kWeights + products() + attention() + "  output \"q\" %q\n  output \"k\" %k\n");
}

TEST(MergeAttentionProducts, NotWhereOthersReadTheWeights) {
  expectApart(weights("w", "1, 2, 3, 4") + "  %q = matrix_multiply(%x, %w) {}\n  %k = matrix_multiply(%x, %w) {}\n" +
              "  %v = matrix_multiply(%y, %w) {}\n" + attention());
}

TEST(MergeAttentionProducts, NotWithOneActivationOrResidual) {
  expectApart(kWeights + "  %q = matrix_multiply(%x, %wq) {}\n" +
              "  %k = matrix_multiply(%x, %wk) {activation=\"relu\"}\n" +
              "  %v = matrix_multiply(%x, %wv, null, %y) {}\n" + attention());
}

TEST(MergeAttentionProducts, NotWithWeightsThatLieOtherwise) {
  expectApart(kWeights + "  %q = matrix_multiply(%x, %wq) {}\n  %k = matrix_multiply(%x, %wk) {transpose_b=true}\n" +
              "  %v = matrix_multiply(%y, %wv) {}\n" + attention());
}

TEST(MergeAttentionProducts, NotWithABiasOfAnotherShape) {
  expectApart(kWeights + weights("b", "0.5, 0.25, 0.75", "float32[3, 1]") +
              "  %q = matrix_multiply(%x, %wq) {}\n  %k = matrix_multiply(%x, %wk, %b) {}\n" +
              "  %v = matrix_multiply(%x, %wv, %b) {}\n" + attention());
}

TEST(MergeAttentionProducts, NotWithComputedWeights) {
  expectApart("  %w = shuffle(%y) {reshape_dims=[2, 3]}\n" + kWeights + "  %q = matrix_multiply(%x, %w) {}\n" +
              "  %k = matrix_multiply(%x, %w) {}\n  %v = matrix_multiply(%x, %wv) {}\n" + attention());
}

// Its operands' channels are all of one head, and no field says where they begin.
TEST(MergeAttentionProducts, NotWithoutHeadsInChannels) {
  expectApart(kWeights + products() +
              "  %a = plugin_v2(%q, %k, %v) {namespace=\"torchtrt\", type=\"Attention\", version=\"1\", scale=0.01, " +
              "transpose_k=true}\n");
}

// Goes from TorchScript's form to one matmul and one attention.
TEST(MergeAttentionProducts, InThePipeline) {
  const auto head = [](const std::string& name, const std::string& weight) {
    return "  %" + name + "p = matrix_multiply(%x, %" + weight + ") {}\n  %" + name + "r = shuffle(%" + name +
           "p) {reshape_dims=[1, 8, 2, 1]}\n  %" + name + " = shuffle(%" + name +
           "r) {first_permutation=[0, 2, 1, 3]}\n";
  };
  expectOptimized("network \"n\" () {\n  input %x : float32[1, 8, 2]\n" + kWeights + head("q", "wq") + head("k", "wk") +
                      head("v", "wv") + R"(  %s = matrix_multiply(%q, %k) {transpose_b=true}
  %p = softmax(%s) {axis=3}
  %c = matrix_multiply(%p, %v) {}
  %t = shuffle(%c) {first_permutation=[0, 2, 1, 3]}
  %a = shuffle(%t) {reshape_dims=[1, 8, 2]}
  output "a" %a
})",
                  "network \"n\" () {\n  input %x : float32[1, 8, 2]\n" +
                      weights("constant_23", "1, 2, 5, 6, 9, 10, 3, 4, 7, 8, 11, 12", "float32[2, 6]") + R"(
  %matrix_multiply_24 = matrix_multiply(%x, %constant_23) {}
  %plugin_v2_21 = plugin_v2(%matrix_multiply_24, %matrix_multiply_24, %matrix_multiply_24) {head_size=1, heads=2, k_channel=2, namespace="torchtrt", q_channel=0, scale=1.0, sequence_first=false, transpose_k=true, type="Attention", v_channel=4, value_size=1, version="1"}
  output "a" %plugin_v2_21
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
