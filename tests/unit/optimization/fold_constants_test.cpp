#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimization/optimization.h"
#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(FoldConstants, ChainsOfConstants) {
  expectChanged("fold_constants", R"(network "n" () {
  input %x : float32[2, 2]
  %c = constant() {} : float32[2, 2] data=[1, 2, 3, 4]
  %one = constant() {} : float32[] data=[1]
  %t = shuffle(%c) {first_permutation=[1, 0]}
  %more = elementwise(%t, %one) {op="sum", activation="relu"}
  %y = matrix_multiply(%x, %more) {}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[2, 2]
  %more = constant() {} : float32[2, 2] data=[2, 4, 3, 5]
  %y = matrix_multiply(%x, %more) {}
  output "y" %y
})");
}

TEST(FoldConstants, EveryOutputOfALayer) {
  expectChanged("fold_constants", R"(network "n" () {
  %c = constant() {} : float32[4] data=[1, 3, 2, 0]
  %top.0, %top.1 = topk(%c) {k=[2], axis=0}
  output "v" %top.0
  output "i" %top.1
})",
                R"(network "n" () {
  %top.0 = constant() {} : float32[2] data=[3, 2]
  %top.1 = constant() {} : int64[2] data=[1, 2]
  output "v" %top.0
  output "i" %top.1
})");
}

TEST(FoldConstants, FillsAndReshapesOfEmptyTensors) {
  expectChanged("fold_constants", R"(network "n" () {
  %steps = fill() {op="arange", dims=[3], dtype=int64, int_value=2, int_step=5}
  %none = constant() {} : float32[0, 2] data=[]
  %still_none = shuffle(%none) {reshape_dims=[0, 2, 1]}
  output "steps" %steps
  output "none" %still_none
})",
                R"(network "n" () {
  %steps = constant() {} : int64[3] data=[2, 7, 12]
  %still_none = constant() {} : float32[0, 2, 1] data=[]
  output "steps" %steps
  output "none" %still_none
})");
}

TEST(FoldConstants, NotWhatDependsOnInputsOrSymbols) {
  expectKept("fold_constants", R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[s0]
  %one = constant() {} : float32[] data=[1]
  %ones = expand(%one) {dims=[s0]}
  %y = elementwise(%x, %ones) {op="sum"}
  output "y" %y
})");
}

TEST(FoldConstants, NotPluginsWhichMayBeOtherOnesWhereThePlanIsLoaded) {
  expectKept("fold_constants", R"(network "n" () {
  %q = constant() {} : float32[1, 1, 2, 2] data=[1, 2, 3, 4]
  %y = plugin_v2(%q, %q, %q) {namespace="torchtrt", type="Attention", version="1", scale=1.0, transpose_k=true}
  output "y" %y
})");
}

TEST(FoldConstants, NotAFaultInTheData) {
  expectKept("fold_constants", R"(network "n" () {
  %data = constant() {} : float32[2] data=[1, 2]
  %index = constant() {} : int64[1] data=[5]
  %y = gather(%data, %index) {mode="default", axis=0}
  output "y" %y
})");
}

TEST(FoldConstants, NotResultsThatOutgrowTheirOperands) {
  const char* text = R"(network "n" () {
  %one = constant() {} : float32[] data=[1]
  %ones = expand(%one) {dims=[8]}
  output "ones" %ones
})";
  Options options;
  for (const size_t allowed : {27, 28}) {  // 8 elements of 4 bytes from one
    options.max_folded_bytes = allowed;
    const auto network = network::parse(text);
    EXPECT_EQ(createManager({"fold_constants"}, options).run(*network), allowed == 28);
  }
}

}  // namespace
}  // namespace torchtrt::optimization::testing
