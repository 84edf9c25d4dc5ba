// Deconvolutions with kernel = stride against the reference.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cpu_fast/compare.h"
#include "cpu_fast/deconvolution_problem.h"

namespace torchtrt::kernels {
namespace {

std::string problem(const std::string& operands, const std::string& stride, const std::string& activation = "",
                    const std::string& padding = "0, 0", const std::string& groups = "1") {
  return toText({.operands = operands,
                 .stride = stride,
                 .before = padding,
                 .after = padding,
                 .groups = groups,
                 .activation = activation});
}

CompareOptions exact() {
  CompareOptions options;
  options.rtol = options.atol = 0;
  return options;
}

TEST(Spread, EveryTailOfRowsAndColumns) {
  for (const int64_t outputs : {1, 3, 12, 33}) {
    for (const int64_t width : {1, 4, 7, 8, 19}) {
      const std::string k = std::to_string(outputs);
      expectMatchesReference(problem("[2,21,3," + std::to_string(width) + "]@0231x[21," + k + ",2,2]!x[" + k +
                                         "] -> [2," + k + ",6," + std::to_string(2 * width) + "]@0231",
                                     "2, 2"),
                             "spread", exact());
    }
  }
}

TEST(Spread, OtherBoxesAndRanks) {
  expectMatchesReference(problem("[1,8,5,6]@0231x[8,10,3,1]!xnull -> [1,10,15,6]@0231", "3, 1"), "spread", exact());
  expectMatchesReference(problem("[1,8,5,6]@0231x[8,10,1,4]!xnull -> [1,10,5,24]@0231", "1, 4"), "spread", exact());
  expectMatchesReference(
      "deconvolution float32 [2,7,9]@021x[7,6,4]!x[6] -> [2,6,36]@021 {dilation=[1], groups=1, output_padding=[0], "
      "post_padding=[0], pre_padding=[0], stride=[4]}",
      "spread", exact());
  expectMatchesReference(
      "deconvolution float32 [2,7,3,4,5]@02341x[7,6,2,3,2]!x[6] -> [2,6,6,12,10]@02341 {dilation=[1, 1, 1], groups=1, "
      "output_padding=[0, 0, 0], post_padding=[0, 0, 0], pre_padding=[0, 0, 0], stride=[2, 3, 2]}",
      "spread", exact());
}

TEST(Spread, DeepProductsAndActivations) {
  CompareOptions close;
  close.rtol = 1e-5;
  for (const char* activation : {"", "activation=\"relu\", ", "activation=\"silu\", "}) {
    expectMatchesReference(problem("[1,600,6,5]@0231x[600,96,2,2]!x[96] -> [1,96,12,10]@0231", "2, 2", activation),
                           "spread", close);
  }
}

TEST(Spread, OneKernelRunsManyShapes) {
  const auto text = [](const std::string& n, const std::string& h, const std::string& w, const std::string& h2,
                       const std::string& w2) {
    return problem(
        "[?" + n + ",16,?" + h + ",?" + w + "]@0231x[16,8,2,2]!x[8] -> [?" + n + ",8,?" + h2 + ",?" + w2 + "]@0231",
        "2, 2");
  };
  CompareOptions options = exact();
  options.shapes = {text("1", "1", "1", "2", "2"), text("0", "4", "4", "8", "8"), text("3", "9", "17", "18", "34")};
  expectMatchesReference(text("2", "8", "8", "16", "16"), "spread", options);
}

TEST(Spread, SaysWhatItCannotDo) {
  expectRefused(problem("[1,8,5,6]@0231x[8,10,3,3]!xnull -> [1,10,11,13]@0231", "2, 2"), "spread", "windows");
  expectRefused(problem("[1,8,5,6]@0231x[8,10,2,2]!xnull -> [1,10,8,10]@0231", "2, 2", "", "1, 1"), "spread",
                "windows");
  expectRefused(problem("[1,8,5,6]@0231x[8,5,2,2]!xnull -> [1,10,10,12]@0231", "2, 2", "", "0, 0", "2"), "spread",
                "windows");
  expectRefused(problem("[1,8,5,6]x[8,10,2,2]!xnull -> [1,10,10,12]", "2, 2"), "spread", "memory-order");
  expectRefused(problem("[1,8,5,6]@0231x[8,10,2,2]xnull -> [1,10,10,12]@0231", "2, 2"), "spread", "dynamic-weights");
}

}  // namespace
}  // namespace torchtrt::kernels
