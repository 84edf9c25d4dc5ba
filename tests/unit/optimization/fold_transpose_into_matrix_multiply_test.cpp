#include <gtest/gtest.h>

#include "optimization/pass_check.h"

namespace torchtrt::optimization::testing {
namespace {

TEST(FoldTransposeIntoMatrixMultiply, OfBothOperands) {
  expectChanged("fold_transpose_into_matrix_multiply", R"(network "n" () {
  input %x : float32[2, 3, 4]
  input %z : float32[2, 4, 5]
  input %bias : float32[5]
  %a = shuffle(%x) {first_permutation=[0, 2, 1]}
  %b = shuffle(%z) {first_permutation=[0, 2, 1]}
  %y = matrix_multiply(%a, %b, %bias) {transpose_a=true, transpose_b=true, activation="relu"}
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[2, 3, 4]
  input %z : float32[2, 4, 5]
  input %bias : float32[5]
  %y = matrix_multiply(%x, %z, %bias) {activation="relu"}
  output "y" %y
})");
}

TEST(FoldTransposeIntoMatrixMultiply, ThatOthersRead) {
  expectChanged("fold_transpose_into_matrix_multiply", R"(network "n" () {
  input %x : float32[3, 4]
  %a = shuffle(%x) {first_permutation=[1, 0]}
  %y = matrix_multiply(%x, %a) {}
  output "a" %a
  output "y" %y
})",
                R"(network "n" () {
  input %x : float32[3, 4]
  %a = shuffle(%x) {first_permutation=[1, 0]}
  %y = matrix_multiply(%x, %x) {transpose_b=true}
  output "a" %a
  output "y" %y
})");
}

std::string product(const std::string& type, const std::string& shuffle) {
  return "network \"n\" () {\n  input %x : " + type + "\n  %a = shuffle(%x) {" + shuffle +
         "}\n  %y = matrix_multiply(%a, %a) {transpose_b=true}\n  output \"y\" %y\n}";
}

TEST(FoldTransposeIntoMatrixMultiply, NotOtherShuffles) {
  expectKept("fold_transpose_into_matrix_multiply", product("float32[2, 3, 4]", "first_permutation=[1, 0, 2]"));
  expectKept("fold_transpose_into_matrix_multiply", product("float32[2, 3, 4]", "first_permutation=[1, 2, 0]"));
  expectKept("fold_transpose_into_matrix_multiply", product("float32[2, 3]", "reshape_dims=[3, 2]"));
  expectKept("fold_transpose_into_matrix_multiply",
             product("float32[2, 3]", "first_permutation=[1, 0], reshape_dims=[2, 3]"));
}

}  // namespace
}  // namespace torchtrt::optimization::testing
