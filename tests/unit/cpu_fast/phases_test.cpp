// Deconvolutions as convolutions, one for each phase of the stride, against the reference.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cpu_fast/compare.h"
#include "cpu_fast/deconvolution_problem.h"

namespace torchtrt::kernels {
namespace {

CompareOptions exact() {
  CompareOptions options;
  options.rtol = options.atol = 0;
  return options;
}

TEST(Phases, EveryTailOfRowsAndColumns) {
  for (const int64_t outputs : {1, 3, 12, 33}) {
    for (const int64_t width : {1, 4, 7, 8, 19}) {
      const std::string k = std::to_string(outputs);
      expectMatchesReference(toText({"[2,21,3," + std::to_string(width) + "]@0231x[21," + k + ",4,4]!x[" + k +
                                     "] -> [2," + k + ",6," + std::to_string(2 * width) + "]@0231"}),
                             "phases", exact());
    }
  }
}

TEST(Phases, KernelsStridesAndPaddings) {
  expectMatchesReference(toText({"[1,8,5,6]@0231x[8,10,3,3]!xnull -> [1,10,11,13]@0231", "2, 2", "0, 0", "0, 0"}),
                         "phases", exact());
  expectMatchesReference(
      toText({"[1,8,5,6]@0231x[8,10,3,3]!xnull -> [1,10,10,12]@0231", "2, 2", "1, 1", "1, 1", "1, 1"}), "phases",
      exact());
  expectMatchesReference(toText({"[2,8,4,4]@0231x[8,9,5,7]!x[9] -> [2,9,12,23]@0231", "3, 2", "1, 0", "1, 0", "0, 2"}),
                         "phases", exact());
  expectMatchesReference(toText({"[1,8,1,1]@0231x[8,16,4,4]!xnull -> [1,16,4,4]@0231", "1, 1", "0, 0", "0, 0"}),
                         "phases", exact());
  expectMatchesReference(toText({"[1,8,6,5]@0231x[8,16,3,3]!xnull -> [1,16,4,3]@0231", "1, 1", "2, 2", "2, 2"}),
                         "phases", exact());
  // Padding that is larger than the kernel's reach cuts off whole pixels of the input, on both sides.
  for (const int64_t before : {2, 3, 4, 5}) {  // one line, whose pixels are found in a table
    const std::string out = std::to_string(20 - 2 * before);
    expectMatchesReference("deconvolution float32 [1,8,9]@021x[8,16,4]!x[16] -> [1,16," + out +
                               "]@021 {dilation=[1], groups=1, output_padding=[0], post_padding=[" +
                               std::to_string(before) + "], pre_padding=[" + std::to_string(before) + "], stride=[2]}",
                           "phases", exact());
  }
  expectMatchesReference(toText({"[1,8,9,8]@0231x[8,16,3,2]!x[16] -> [1,16,9,6]@0231", "2, 2", "5, 4", "5, 6"}),
                         "phases", exact());
  expectMatchesReference(toText({"[1,8,5,6]@0231x[8,10,2,2]!xnull -> [1,10,8,10]@0231"}), "phases", exact());
}

TEST(Phases, OtherRanksAndGroups) {
  expectMatchesReference(toText({"[2,7,9]@021x[7,6,4]!x[6] -> [2,6,18]@021", "2", "1", "1", "0", "1", "", "1"}),
                         "phases", exact());
  expectMatchesReference(toText({"[1,5,3,4,5]@02341x[5,6,3,4,3]!x[6] -> [1,6,7,8,9]@02341", "2, 2, 2", "0, 1, 1",
                                 "0, 1, 1", "0, 0, 0", "1", "", "1, 1, 1"}),
                         "phases", exact());
  expectMatchesReference(
      toText({"[1,12,5,4]@0231x[12,9,4,4]!x[27] -> [1,27,10,8]@0231", "2, 2", "1, 1", "1, 1", "0, 0", "3"}), "phases",
      exact());
}

TEST(Phases, DeepSumsAndActivations) {
  CompareOptions close;
  close.rtol = 1e-5;
  for (const char* activation : {"", "activation=\"relu\", ", "activation=\"silu\", "}) {
    Deconvolution c{"[1,600,6,5]@0231x[600,96,4,4]!x[96] -> [1,96,12,10]@0231"};
    c.activation = activation;
    expectMatchesReference(toText(c), "phases", close);
  }
}

TEST(Phases, OneKernelRunsManyShapes) {
  const auto text = [](const std::string& n, const std::string& h, const std::string& w, const std::string& h2,
                       const std::string& w2) {
    return toText(
        {"[?" + n + ",16,?" + h + ",?" + w + "]@0231x[16,8,4,4]!x[8] -> [?" + n + ",8,?" + h2 + ",?" + w2 + "]@0231"});
  };
  CompareOptions options = exact();
  options.shapes = {text("1", "1", "1", "2", "2"), text("0", "4", "4", "8", "8"), text("3", "9", "17", "18", "34")};
  expectMatchesReference(text("2", "8", "8", "16", "16"), "phases", options);
}

TEST(Phases, AreSafeForThreads) {
  expectSafeForThreads(toText({"[2,32,20,20]@0231x[32,24,4,4]!x[24] -> [2,24,40,40]@0231"}), "phases");
}

TEST(Phases, SayWhatTheyCannotDo) {
  expectRefused(toText({"[1,8,5,6]@0231x[8,10,2,2]!xnull -> [1,10,14,17]@0231", "3, 3", "0, 0", "0, 0"}), "phases",
                "gaps");
  expectRefused(toText({"[1,8,5,6]x[8,10,4,4]!xnull -> [1,10,10,12]"}), "phases", "memory-order");
  expectRefused(toText({"[1,8,5,6]@0231x[8,5,4,4]!xnull -> [1,10,10,12]@0231", "2, 2", "1, 1", "1, 1", "0, 0", "2"}),
                "phases", "narrow-groups");
  expectRefused(
      toText({"[1,8,5,6]@0231x[8,10,3,3]!xnull -> [1,10,13,15]@0231", "2, 2", "0, 0", "0, 0", "0, 0", "1", "", "2, 2"}),
      "phases", "dilation");
  expectRefused(toText({"[1,8,5,6]@0231x[8,10,4,4]xnull -> [1,10,10,12]@0231"}), "phases", "dynamic-weights");
}

}  // namespace
}  // namespace torchtrt::kernels
