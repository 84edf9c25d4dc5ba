#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(MergeCommonSubexpressions, ChainsOnEqualConstants) {
  expectChanged("merge_common_subexpressions", R"(network "n" () {
  input %x : float32[2]
  %c = constant() {} : float32[2] data=[1, 2]
  %a = elementwise(%x, %c) {op="sum"}
  %ta = activation(%a) {op="tanh"}
  %d = constant() {} : float32[2] data=[1, 2]
  %b = elementwise(%x, %d) {op="sum"}
  %tb = activation(%b) {op="tanh"}
  output "a" %ta
  output "b" %tb
})",
                R"(network "n" () {
  input %x : float32[2]
  %c = constant() {} : float32[2] data=[1, 2]
  %a = elementwise(%x, %c) {op="sum"}
  %ta = activation(%a) {op="tanh"}
  output "a" %ta
  output "b" %ta
})");
}

TEST(MergeCommonSubexpressions, BothOutputsOfALayer) {
  expectChanged("merge_common_subexpressions", R"(network "n" () {
  input %x : float32[4]
  %v, %i = topk(%x) {k=[2], axis=0}
  %w, %j = topk(%x) {k=[2], axis=0}
  output "v" %v
  output "j" %j
  output "w" %w
})",
                R"(network "n" () {
  input %x : float32[4]
  %v, %i = topk(%x) {k=[2], axis=0}
  output "v" %v
  output "j" %i
  output "w" %v
})");
}

std::string twoOf(const std::string& first, const std::string& second) {
  return "network \"n\" () {\n  input %x : float32[2]\n  input %z : float32[2]\n  %a = " + first +
         "\n  %b = " + second + "\n  output \"a\" %a\n  output \"b\" %b\n}";
}

TEST(MergeCommonSubexpressions, NotLayersThatDiffer) {
  expectKept("merge_common_subexpressions", twoOf("unary(%x) {op=\"neg\"}", "unary(%x) {op=\"abs\"}"));
  expectKept("merge_common_subexpressions", twoOf("unary(%x) {op=\"neg\"}", "unary(%z) {op=\"neg\"}"));
  expectKept("merge_common_subexpressions",
             twoOf("elementwise(%x, %z) {op=\"sub\"}", "elementwise(%z, %x) {op=\"sub\"}"));
  expectKept("merge_common_subexpressions",
             twoOf("activation(%x) {op=\"clip\", alpha=0, beta=1}", "activation(%x) {op=\"clip\", alpha=0, beta=2}"));
}

TEST(MergeCommonSubexpressions, NotConstantsThatDiffer) {
  expectKept("merge_common_subexpressions",
             twoOf("constant() {} : float32[2] data=[1, 2]", "constant() {} : float32[2] data=[1, 3]"));
  expectKept("merge_common_subexpressions",
             twoOf("constant() {} : float32[2] data=[1, 2]", "constant() {} : float32[1, 2] data=[1, 2]"));
  // The same bytes, as floats and as integers.
  expectKept("merge_common_subexpressions",
             twoOf("constant() {} : float32[1] data=[0]", "constant() {} : int32[1] data=[0]"));
}

TEST(MergeCommonSubexpressions, NotZerosOfDifferentSign) {
  expectKept("merge_common_subexpressions",
             twoOf("constant() {} : float32[1] data=[0]", "constant() {} : float32[1] data=[-0]"));
  expectKept("merge_common_subexpressions",
             twoOf("padding(%x) {pre=[1], post=[0], value=0}", "padding(%x) {pre=[1], post=[0], value=-0.0}"));
}

// A plugin's effect is unknown: it may draw random numbers.
TEST(MergeCommonSubexpressions, NotPlugins) {
  expectKept("merge_common_subexpressions", R"(network "n" () {
  input %m : float32[1, 3, 2]
  %a = plugin_v2(%m, %m, %m) {namespace="torchtrt", type="Attention", version="1", scale=0.5, transpose_k=true}
  %b = plugin_v2(%m, %m, %m) {namespace="torchtrt", type="Attention", version="1", scale=0.5, transpose_k=true}
  output "a" %a
  output "b" %b
})");
}

}  // namespace
}  // namespace torchtrt::optimization::testing
