#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

std::string chain(const std::string& type, const std::vector<std::string>& attributes) {
  std::string text = "network \"n\" (s0 in [1, 2, 4]) {\n  input %x : " + type + "\n";
  std::string last = "%x";
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::string name = i + 1 == attributes.size() ? "%y" : "%t" + std::to_string(i);
    text += "  " + name + " = shuffle(" + last + ") {" + attributes[i] + "}\n";
    last = name;
  }
  return text + "  output \"out\" " + last + "\n}";
}

void expectMerged(const std::string& type, const std::vector<std::string>& before, const std::string& after) {
  expectChanged("merge_shuffles", chain(type, before), chain(type, {after}));
}

TEST(MergeShuffles, TwoReshapesIntoTheLast) {
  expectMerged("float32[s0, 2, 3]", {"reshape_dims=[0, 6]", "reshape_dims=[0, 3, 2]"}, "reshape_dims=[s0, 3, 2]");
}

TEST(MergeShuffles, TwoTransposesIntoTheirProduct) {
  expectMerged("float32[2, 3, 4]", {"first_permutation=[1, 2, 0]", "first_permutation=[1, 0, 2]"},
               "first_permutation=[2, 1, 0]");
}

TEST(MergeShuffles, ReshapeThenTranspose) {
  expectMerged("float32[s0, 6]", {"reshape_dims=[0, 2, 3]", "first_permutation=[0, 2, 1]"},
               "reshape_dims=[s0, 2, 3], second_permutation=[0, 2, 1]");
}

TEST(MergeShuffles, TransposeThenReshape) {
  expectMerged("float32[2, 3]", {"first_permutation=[1, 0]", "reshape_dims=[6]"},
               "first_permutation=[1, 0], reshape_dims=[6]");
}

TEST(MergeShuffles, ChannelShuffleIntoTwo) {
  expectChanged("merge_shuffles",
                chain("float32[2, 4, 3]",
                      {"reshape_dims=[2, 2, 2, 3]", "first_permutation=[0, 2, 1, 3]", "reshape_dims=[2, 4, 3]"}),
                R"(network "n" (s0 in [1, 2, 4]) {
  input %x : float32[2, 4, 3]
  %t1 = shuffle(%x) {reshape_dims=[2, 2, 2, 3], second_permutation=[0, 2, 1, 3]}
  %y = shuffle(%t1) {reshape_dims=[2, 4, 3]}
  output "out" %y
})");
}

TEST(MergeShuffles, TransposeOfUnitDimensionsIsAReshape) {
  expectMerged("float32[2, 1, 3]", {"first_permutation=[1, 0, 2]"}, "reshape_dims=[1, 2, 3]");
  expectMerged("float32[2, 1, 3]", {"first_permutation=[1, 0, 2], reshape_dims=[6]"}, "reshape_dims=[6]");
  expectMerged("float32[6]", {"reshape_dims=[2, 1, 3], second_permutation=[0, 2, 1]"}, "reshape_dims=[2, 3, 1]");
}

TEST(MergeShuffles, ReshapeToTheSameIsDropped) {
  expectMerged("float32[2, 3]", {"first_permutation=[1, 0], reshape_dims=[3, 2]"}, "first_permutation=[1, 0]");
}

TEST(MergeShuffles, NotATransposeThatOthersRead) {
  expectKept("merge_shuffles", R"(network "n" () {
  input %x : float32[2, 3]
  %t = shuffle(%x) {first_permutation=[1, 0]}
  %y = shuffle(%t) {reshape_dims=[6]}
  output "t" %t
  output "y" %y
})");
}

TEST(MergeShuffles, NotReshapesAroundATranspose) {
  expectKept("merge_shuffles",
             chain("float32[2, 3]", {"reshape_dims=[3, 2], second_permutation=[1, 0]", "reshape_dims=[6]"}));
}

TEST(MergeShuffles, NotEmptyTensors) {
  // A resolved 0 would mean "copy the input's dimension".
  expectKept("merge_shuffles", chain("float32[0, 6]", {"reshape_dims=[0, 2, 3]", "reshape_dims=[0, 3, 2]"}));
  expectKept("merge_shuffles", chain("float32[0, 1, 0, 2]", {"first_permutation=[0, 2, 3, 1]"}));
}

}  // namespace
}  // namespace torchtrt::optimization::testing
