// Deconvolutions of bfloat16 with kernel = stride by tiles against the reference, where the machine has them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cpu_fast/compare.h"
#include "cpu_fast/deconvolution_problem.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels {
namespace {

constexpr const char* kName = "tiles";

std::string problem(const std::string& operands, const std::string& stride, const std::string& activation = "",
                    const std::string& padding = "0, 0") {
  std::string text =
      toText({.operands = operands, .stride = stride, .before = padding, .after = padding, .activation = activation});
  return text.replace(text.find("float32"), 7, "bfloat16");
}

class TilesSpread : public ::testing::Test {
 protected:
  void SetUp() override {
    const Chosen chosen = createKernel(
        parseProblem(problem("[1,32,5,6]@0231x[32,10,2,2]!xnull -> [1,10,10,12]@0231", "2, 2")).problem, kName);
    for (const auto& [name, refusal] : chosen.refusals) {
      if (name == kName && refusal.code == "instructions") {
        GTEST_SKIP() << name << " " << refusal.reason;
      }
    }
  }
};

TEST_F(TilesSpread, EveryTailOfRowsAndColumns) {
  for (const int64_t channels : {21, 64}) {
    for (const int64_t outputs : {1, 12, 32, 50}) {
      for (const int64_t width : {1, 7, 19}) {
        const std::string c = std::to_string(channels);
        const std::string k = std::to_string(outputs);
        expectMatchesReference(
            problem("[2," + c + ",3," + std::to_string(width) + "]@0231x[" + c + "," + k + ",2,2]!x[" + k + "] -> [2," +
                        k + ",6," + std::to_string(2 * width) + "]@0231",
                    "2, 2"),
            kName);
      }
    }
  }
}

TEST_F(TilesSpread, OtherBoxesAndActivations) {
  expectMatchesReference(problem("[1,8,5,6]@0231x[8,10,3,1]!xnull -> [1,10,15,6]@0231", "3, 1"), kName);
  expectMatchesReference(problem("[1,8,5,6]@0231x[8,10,1,4]!xnull -> [1,10,5,24]@0231", "1, 4"), kName);
  expectMatchesReference(problem("[3,8,1,1]@0231x[8,32,1,2]!xnull -> [3,32,1,2]@0231", "1, 2"), kName);
  expectMatchesReference(
      problem("[1,64,6,5]@0231x[64,96,2,2]!x[96] -> [1,96,12,10]@0231", "2, 2", "activation=\"relu\", "), kName);
}

TEST_F(TilesSpread, RefusesOtherWindows) {
  expectRefused(problem("[1,12,7,6]@0231x[12,20,3,3]!x[20] -> [1,20,15,13]@0231", "2, 2"), kName, "windows");
}

}  // namespace
}  // namespace torchtrt::kernels
