// Convolutions of bfloat16 by tiles against the reference, where the machine has them. Exact values make sums exact in
// float32, so both round the same numbers.
#include <gtest/gtest.h>

#include <string>

#include "cpu_fast/compare.h"
#include "cpu_fast/convolution_problem.h"
#include "kernels/problem_text.h"

namespace torchtrt::kernels {
namespace {

constexpr const char* kName = "tiles";

std::string problem(Convolution convolution) {
  convolution.dtype = "bfloat16";
  return toText(convolution);
}

class Tiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const Chosen chosen =
        createKernel(parseProblem(problem({.input = {1, 64, 9, 9}, .kernel = {64, 64, 1, 1}})).problem, kName);
    for (const auto& [name, refusal] : chosen.refusals) {
      if (name == kName && refusal.code == "instructions") {
        GTEST_SKIP() << name << " " << refusal.reason;
      }
    }
  }
};

TEST_F(Tiles, PixelsThatLieReady) {
  for (const int64_t width : {1, 5, 16, 33}) {
    for (const int64_t outputs : {16, 17, 32, 70}) {
      expectMatchesReference(problem({.input = {2, 64, 3, width}, .kernel = {outputs, 64, 1, 1}}), kName);
    }
  }
}

TEST_F(Tiles, RowsThatArePutTogether) {
  expectMatchesReference(problem({.input = {2, 33, 7, 9}, .kernel = {40, 33, 1, 1}}), kName);
  expectMatchesReference(problem({.input = {2, 24, 7, 9}, .kernel = {40, 24, 1, 1}, .stride = {2, 3}}), kName);
  expectMatchesReference(problem({.input = {1, 3, 21, 19},
                                  .kernel = {24, 3, 7, 7},
                                  .stride = {2, 2},
                                  .pre_padding = {3, 3},
                                  .post_padding = {3, 3}}),
                         kName);
  expectMatchesReference(
      problem({.input = {2, 20, 9, 8}, .kernel = {33, 20, 3, 2}, .pre_padding = {1, 0}, .dilation = {2, 3}}), kName);
  expectMatchesReference(
      problem({.input = {2, 20, 30}, .kernel = {17, 20, 3}, .input_order = "@021", .output_order = "@021"}), kName);
  expectMatchesReference(problem({.input = {1, 8, 4, 5, 6},
                                  .kernel = {16, 8, 2, 3, 3},
                                  .pre_padding = {1, 1, 0},
                                  .post_padding = {0, 1, 1},
                                  .input_order = "@02341",
                                  .output_order = "@02341"}),
                         kName);
}

TEST_F(Tiles, LinesOfFewChannels) {
  for (const int64_t channels : {1, 3, 24, 40}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t side : {2, 3, 7}) {
        expectMatchesReference(problem({.input = {2, channels, 11, 14},
                                        .kernel = {24, channels, side, side},
                                        .stride = {stride, stride},
                                        .pre_padding = {side / 2, side / 2},
                                        .post_padding = {1, side / 2}}),
                               kName);
      }
    }
  }
  expectMatchesReference(problem({.input = {1, 3, 9, 17},
                                  .kernel = {32, 3, 2, 5},
                                  .stride = {2, 1},
                                  .pre_padding = {4, 4},
                                  .post_padding = {3, 4},
                                  .dilation = {3, 1}}),
                         kName);
  // Several blocks of lines.
  expectMatchesReference(problem({.input = {1, 20, 120, 60},
                                  .kernel = {16, 20, 3, 3},
                                  .stride = {2, 2},
                                  .pre_padding = {1, 1},
                                  .post_padding = {1, 1}}),
                         kName);
}

// Neighbours of a window are multiplied by zeros, and zero times NaN is NaN.
TEST_F(Tiles, NanStaysInItsWindows) {
  CompareOptions options;
  options.values = Values::kSomeNan;
  options.constants = Values::kExact;
  for (const int64_t channels : {3, 24, 64}) {
    for (const int64_t side : {1, 3}) {
      expectMatchesReference(problem({.input = {2, channels, 9, 40},
                                      .kernel = {24, channels, side, side},
                                      .pre_padding = {side / 2, side / 2},
                                      .post_padding = {side / 2, side / 2}}),
                             kName, options);
    }
  }
}

TEST_F(Tiles, Planes) {
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t padding : {0, 1, 2}) {
      expectMatchesReference(problem({.input = {2, 32, 11, 14},
                                      .kernel = {40, 32, 3, 3},
                                      .stride = {stride, stride},
                                      .pre_padding = {padding, padding},
                                      .post_padding = {1, padding}}),
                             kName);
    }
  }
  expectMatchesReference(problem({.input = {1, 64, 9, 9}, .kernel = {48, 64, 1, 1}, .stride = {2, 2}}), kName);
  expectMatchesReference(problem({.input = {1, 32, 9, 17},
                                  .kernel = {32, 32, 2, 5},
                                  .stride = {2, 1},
                                  .pre_padding = {4, 4},
                                  .post_padding = {3, 4},
                                  .dilation = {3, 2}}),
                         kName);
  // Windows that lie in the padding alone.
  expectMatchesReference(
      problem({.input = {1, 32, 2, 2}, .kernel = {16, 32, 1, 3}, .pre_padding = {5, 6}, .post_padding = {4, 5}}),
      kName);
  // Several blocks of lines.
  expectMatchesReference(
      problem({.input = {1, 96, 70, 64}, .kernel = {16, 96, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}}),
      kName);
}

TEST_F(Tiles, Epilogues) {
  CompareOptions options;
  options.rtol = 0x1p-7;  // a unit in the last place
  for (const bool bias : {false, true}) {
    for (const bool residual : {false, true}) {
      for (const bool scale : {false, true}) {
        for (const char* activation :
             {"", "activation=\"relu\", ", "activation=\"hard_swish\", ", "activation=\"silu\", "}) {
          for (const Values values : {Values::kExact, Values::kSomeNan}) {
            options.values = values;
            expectMatchesReference(problem({.input = {1, 32, 9, 7},
                                            .kernel = {41, 32, 3, 3},
                                            .bias = bias,
                                            .residual = residual,
                                            .scale = scale,
                                            .activation = activation}),
                                   kName, options);
          }
        }
      }
    }
  }
}

TEST_F(Tiles, OtherShapesRunOnTheSamePackedKernel) {
  CompareOptions options;
  for (const std::vector<int64_t>& input : {std::vector<int64_t>{3, 32, 7, 9}, {1, 32, 3, 3}, {0, 32, 9, 9}}) {
    options.shapes.push_back(problem({.input = input, .kernel = {32, 32, 3, 3}}));
  }
  expectMatchesReference(problem({.input = {1, 32, 20, 20}, .kernel = {32, 32, 3, 3}, .dynamic = true}), kName,
                         options);
}

TEST_F(Tiles, SafeForThreads) {
  expectSafeForThreads(problem({.input = {1, 64, 30, 30}, .kernel = {128, 64, 3, 3}}), kName);
  expectSafeForThreads(problem({.input = {1, 512, 7, 7}, .kernel = {512, 512, 1, 1}}), kName);
}

TEST_F(Tiles, RefusesWhatOthersCompute) {
  expectRefused(problem({.input = {1, 32, 9, 9}, .kernel = {32, 16, 3, 3}, .groups = 2}), kName, "groups");
  expectRefused(problem({.input = {1, 32, 9, 9}, .kernel = {32, 32, 3, 3}, .input_order = "", .output_order = ""}),
                kName, "memory-order");
  expectRefused(toText({.input = {1, 32, 9, 9}, .kernel = {32, 32, 3, 3}}), kName, "dtype");
  expectRefused(problem({.input = {1, 32, 66, 66}, .kernel = {32, 32, 3, 3}}), kName, "slower");
  expectRefused(problem({.input = {1, 16, 64, 64}, .kernel = {16, 16, 1, 1}}), kName, "slower");
  expectRefused(problem({.input = {1, 120, 1, 1}, .kernel = {32, 120, 1, 1}}), kName, "slower");
}

}  // namespace
}  // namespace torchtrt::kernels
