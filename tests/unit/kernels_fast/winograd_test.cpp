// Winograd's convolution against the reference: borders, what is fused, values that must not spread, exactness.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels_fast/convolution_problem.h"

namespace torchtrt::kernels {
namespace {

TEST(WinogradConvolution, EveryBorderOfTheImage) {
  for (const int64_t padding : {0, 1, 2}) {
    for (const std::vector<int64_t>& size : {std::vector<int64_t>{16, 16}, {15, 17}, {30, 9}}) {
      check("winograd", {.input = {1, 64, size[0], size[1]},
                         .kernel = {80, 64, 3, 3},
                         .pre_padding = {padding, padding},
                         .post_padding = {padding, padding}});
    }
  }
  check("winograd", {.input = {3, 64, 9, 9}, .kernel = {64, 64, 3, 3}, .pre_padding = {1, 0}, .post_padding = {0, 2}});
}

TEST(WinogradConvolution, BiasResidualAndActivation) {
  const Convolution plain = {.input = {1, 64, 15, 14}, .kernel = {64, 64, 3, 3}};
  for (const char* activation : {"", "activation=\"relu\", ", "activation=\"hard_swish\", ", "activation=\"silu\", "}) {
    for (const bool residual : {false, true}) {
      Convolution convolution = plain;
      convolution.pre_padding = convolution.post_padding = {1, 1};
      convolution.activation = activation;
      convolution.residual = residual;
      convolution.bias = residual;
      const bool is_exact =
          std::string(activation).empty() || std::string(activation).find("relu") != std::string::npos;
      check("winograd", convolution, is_exact ? 0 : 1e-6);
    }
  }
}

TEST(WinogradConvolution, InfinitiesAndNanStayInTheirWindows) {
  const std::string problem =
      toText({.input = {1, 64, 14, 14}, .kernel = {64, 64, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}});
  CompareOptions options;
  for (const Values values : {Values::kSomeNan, Values::kSpecial}) {
    options.values = values;
    expectMatchesReference(problem, "winograd", options);
  }
}

TEST(WinogradConvolution, AsExactAsThePlainSum) {
  const Convolution convolution = {
      .input = {1, 256, 14, 14}, .kernel = {256, 256, 3, 3}, .pre_padding = {1, 1}, .post_padding = {1, 1}};
  CompareOptions options;
  options.values = Values::kSmooth;
  expectMatchesReference(toText(convolution), "winograd", options);
}

TEST(WinogradConvolution, ManyShapesWithOneKernel) {
  Convolution convolution = {.input = {2, 64, 14, 14}, .kernel = {64, 64, 3, 3}, .dynamic = true};
  convolution.pre_padding = convolution.post_padding = {1, 1};
  CompareOptions options;
  options.rtol = options.atol = 0;
  for (const std::vector<int64_t>& input :
       std::vector<std::vector<int64_t>>{{0, 64, 14, 14}, {1, 64, 1, 1}, {1, 64, 3, 2}, {5, 64, 8, 31}}) {
    Convolution other = convolution;
    other.input = input;
    options.shapes.push_back(toText(other));
  }
  expectMatchesReference(toText(convolution), "winograd", options);
}

TEST(WinogradConvolution, RefusesWhatOthersDoFaster) {
  const auto refused = [](const Convolution& convolution, const char* code) {
    expectRefused(toText(convolution), "winograd", code);
  };
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 5, 5}}, "kernel");
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}, .stride = {2, 2}}, "kernel");
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}, .dilation = {2, 2}}, "kernel");
  refused({.input = {1, 128, 28, 28}, .kernel = {128, 64, 3, 3}, .groups = 2}, "kernel");
  refused({.input = {1, 72, 28, 28}, .kernel = {64, 72, 3, 3}}, "channels");
  refused({.input = {1, 32, 28, 28}, .kernel = {64, 32, 3, 3}}, "slower");
  refused({.input = {1, 64, 7, 7}, .kernel = {64, 64, 3, 3}}, "slower");
  refused({.input = {1, 64, 28, 28}, .kernel = {64, 64, 3, 3}, .input_order = ""}, "memory-order");
}

}  // namespace
}  // namespace torchtrt::kernels
