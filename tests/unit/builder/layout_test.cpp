#include <gtest/gtest.h>

#include "engine/calls/loaded_engine.h"
#include "run.h"
#include "support/interpreter.h"

namespace torchtrt::builder {
namespace {

constexpr const char* kConvolution = "stride=[1, 1], pre_padding=[1, 1], post_padding=[1, 1], dilation=[1, 1]";

// A network with one input [2, 8, 6, 6], the constants %k (3x3) and %p (1x1) and the given layers.
std::string imageNetwork(const std::string& layers) {
  return R"(network "image" () {
  input %x : float32[2, 8, 6, 6]
  %k = fill() {op="constant", dims=[8, 8, 3, 3], dtype=float32, value=0.125}
)" + layers +
         "\n}";
}

std::string conv(const std::string& name, const std::string& input) {
  return "  %" + name + " = convolution(%" + input + ", %k) {" + kConvolution + "}\n";
}

// Optimized, so that %k is a constant.
std::string stepsFor(const std::string& layers) {
  return stepsOf(optimizeAndBuild(*network::parse(imageNetwork(layers))));
}

TEST(Layout, SpatialLayersRunChannelsLastWithoutReordersBetween) {
  EXPECT_EQ(stepsFor(conv("a", "x") + R"(  %b = unary(%a) {op="sin"}
  %c = pooling(%b) {op="max", window=[2, 2], stride=[2, 2], pre_padding=[0, 0], post_padding=[0, 0], dilation=[1, 1]}
)" + conv("d", "c") + R"(  output "y" %d)"),
            "reformat(0,2,3,1) convolution(0,2,3,1) unary(0,2,3,1) pooling(0,2,3,1) convolution(0,2,3,1) reformat");
}

// A profile names whom a copy is for: the layer that reads a network's input, else the one whose result is moved.
TEST(Layout, CopiesHaveTheLocationOfWhomTheyAreFor) {
  const plan::Plan plan = optimizeAndBuild(*network::parse(
      imageNetwork(R"(  %a = convolution(%x, %k) {)" + std::string(kConvolution) + R"(}  # model.py:3:8 (head)
  %b = unary(%a) {op="sin"}  # model.py:9:8 (tail)
  output "y" %b)")));
  ASSERT_EQ(stepsOf(plan), "reformat(0,2,3,1) convolution(0,2,3,1) unary(0,2,3,1) reformat");
  EXPECT_EQ(toString(plan.steps.front().location), "model.py:3:8 (head)");
  EXPECT_EQ(toString(plan.steps.back().location), "model.py:9:8 (tail)");
}

TEST(Layout, ADeconvolutionAloneRunsChannelsLast) {
  EXPECT_EQ(
      stepsFor(R"(  %a = deconvolution(%x, %k) {stride=[2, 2], pre_padding=[1, 1], post_padding=[1, 1], dilation=[1, 1]}
  output "y" %a)"),
      "reformat(0,2,3,1) deconvolution(0,2,3,1) reformat");
}

// Everything is moved as bytes from the first steps to the last; the residual lies as the output does.
TEST(Layout, StepsRunChannelsLastToo) {
  const std::string product =
      " = quantized_convolution(%q, %b, %s, null, %r) {to=int8, low=-127, high=127, pre_padding=[1, 1], "
      "post_padding=[1, 1]}\n";
  EXPECT_EQ(stepsFor(R"(  %b = fill() {op="constant", dims=[8, 8, 3, 3], dtype=int8, int_value=2}
  %s = fill() {op="constant", dims=[8], dtype=float32, value=0.5}
  %q = quantize(%x) {to=uint8, scale=0.5, zero_point=3, low=0, high=255}
  %r = quantize(%x) {to=int8, scale=0.5, low=-127, high=127}
  %c)" + product + R"(  %d = dequantize(%c) {scale=0.5}
  %e = unary(%d) {op="sin"}
  output "y" %e)"),
            "quantize quantize reformat(0,2,3,1) reformat(0,2,3,1) quantized_convolution(0,2,3,1) "
            "dequantize(0,2,3,1) unary(0,2,3,1) reformat");
}

TEST(Layout, BranchesStayChannelsLast) {
  EXPECT_EQ(
      stepsFor(conv("a", "x") + conv("b", "a") + R"(  %c = concatenation(%a, %b) {axis=1}
  %d = unary(%c) {op="sin"}
  output "y" %d)"),
      "reformat(0,2,3,1) convolution(0,2,3,1) convolution(0,2,3,1) concatenation(0,2,3,1) unary(0,2,3,1) reformat");
}

TEST(Layout, ASinglePixelNeedsNoReorder) {
  EXPECT_EQ(stepsFor(conv("a", "x") + R"(  %b = adaptive_pooling(%a) {op="average", output_size=[1, 1]}
  %c = shuffle(%b) {reshape_dims=[2, 8]}
  %d = unary(%c) {op="sin"}
  output "y" %d)"),
            "reformat(0,2,3,1) convolution(0,2,3,1) adaptive_pooling(0,2,3,1) unary");
}

TEST(Layout, FlatteningPixelsNeedsAReorder) {
  EXPECT_EQ(stepsFor(conv("a", "x") + R"(  %c = shuffle(%a) {reshape_dims=[2, 288]}
  output "y" %c)"),
            "reformat(0,2,3,1) convolution(0,2,3,1) reformat");
}

TEST(Layout, TranspositionsThatMoveNothingAreViews) {
  EXPECT_EQ(stepsFor(conv("a", "x") + R"(  %b = shuffle(%a) {first_permutation=[0, 2, 3, 1]}
  %c = normalization(%b) {mode="layer", eps=1e-05}
  %d = shuffle(%c) {first_permutation=[0, 3, 1, 2]}
  %e = elementwise(%d, %a) {op="sum"}
  output "y" %e)"),
            "reformat(0,2,3,1) convolution(0,2,3,1) normalization elementwise(0,2,3,1) reformat");
}

TEST(Layout, NormalizationsOfChannelsFollowTheirImage) {
  for (const char* mode : {"mode=\"instance\"", "mode=\"group\", groups=2"}) {
    EXPECT_EQ(stepsFor(conv("a", "x") + "  %b = normalization(%a) {eps=1e-05, " + mode + "}\n" + conv("c", "b") +
                       "  output \"y\" %c"),
              "reformat(0,2,3,1) convolution(0,2,3,1) normalization(0,2,3,1) convolution(0,2,3,1) reformat");
  }
}

TEST(Layout, PixelsBecomeTokensWithoutAMove) {
  EXPECT_EQ(stepsFor(conv("a", "x") + R"(  %b = shuffle(%a) {reshape_dims=[2, 8, 36], second_permutation=[0, 2, 1]}
  %c = softmax(%b) {axis=2}
  output "y" %c)"),
            "reformat(0,2,3,1) convolution(0,2,3,1) softmax");
}

TEST(Layout, ShufflingChannelsIsOneMove) {
  EXPECT_EQ(stepsFor(conv("a", "x") +
                     R"(  %b = shuffle(%a) {reshape_dims=[2, 2, 4, 6, 6], second_permutation=[0, 2, 1, 3, 4]}
  %c = shuffle(%b) {reshape_dims=[2, 8, 6, 6]}
)" + conv("d", "c") + R"(  output "y" %d)"),
            "reformat(0,2,3,1) convolution(0,2,3,1) reformat(0,3,4,1,2) convolution(0,2,3,1) reformat");
}

TEST(Layout, WindowsAreCutOutLineByLine) {
  // Goes to windows and back, as lines of 8: the residual lies row-major, too.
  EXPECT_EQ(stepsFor(conv("a", "x") + R"(  %t = shuffle(%a) {first_permutation=[0, 2, 3, 1]}
  %b = shuffle(%t) {reshape_dims=[2, 3, 2, 3, 2, 8], second_permutation=[0, 1, 3, 2, 4, 5]}
  %c = shuffle(%b) {reshape_dims=[18, 4, 8]}
  %d = softmax(%c) {axis=2}
  %e = shuffle(%d) {reshape_dims=[2, 3, 3, 2, 2, 8], second_permutation=[0, 1, 3, 2, 4, 5]}
  %f = shuffle(%e) {reshape_dims=[2, 6, 6, 8]}
  %g = elementwise(%f, %t) {op="sum"}
  output "y" %g)"),
            "reformat(0,2,3,1) convolution(0,2,3,1) reformat softmax reformat elementwise");
}

TEST(Layout, ATranspositionReadsAnyOrder) {
  EXPECT_EQ(stepsFor(conv("a", "x") + R"(  %b = shuffle(%a) {first_permutation=[2, 0, 1, 3]}
  %c = softmax(%b) {axis=0}
  output "y" %c)"),
            "reformat(0,2,3,1) convolution(0,2,3,1) shuffle softmax");
}

TEST(Layout, TranspositionsOfASingleImageAreViewsToo) {
  const plan::Plan plan = optimizeAndBuild(*network::parse(R"(network "one" () {
  input %x : float32[1, 2, 4, 4]
  %k = constant() {} : float32[2, 2, 1, 1] data=[1, 2, 3, 4]
  %a = convolution(%x, %k) {}
  %b = shuffle(%a) {first_permutation=[0, 2, 3, 1]}
  %c = softmax(%b) {axis=3}
  %d = shuffle(%c) {first_permutation=[0, 3, 1, 2]}
  %e = elementwise(%d, %a) {op="sum"}
  output "y" %e
})"));
  EXPECT_EQ(stepsOf(plan), "reformat(0,2,3,1) convolution(0,2,3,1) softmax elementwise(0,2,3,1) reformat");
}

TEST(Layout, OneChannelNeedsNoReorder) {
  const plan::Plan plan = optimizeAndBuild(*network::parse(R"(network "gray" () {
  input %x : float32[1, 1, 6, 6]
  %k = constant() {} : float32[2, 1, 1, 1] data=[1, 2]
  %a = convolution(%x, %k) {}
  output "y" %a
})"));
  EXPECT_EQ(stepsOf(plan), "convolution(0,2,3,1) reformat");
}

// A convolution of [1, `channels`, 20, `width`] with `outputs`, pooled, then one with 16 outputs.
std::string stepsOfFewOutputs(int channels, int outputs, int width) {
  const std::string c = std::to_string(channels);
  const std::string k = std::to_string(outputs);
  return stepsOf(optimizeAndBuild(*network::parse(
      R"(network "few" () {
  input %x : float32[1, )" +
      c + ", 20, " + std::to_string(width) + R"(]
  %w = fill() {op="constant", dims=[)" +
      k + ", " + c + R"(, 3, 3], dtype=float32, value=0.125}
  %v = fill() {op="constant", dims=[16, )" +
      k + R"(, 3, 3], dtype=float32, value=0.125}
  %a = convolution(%x, %w) {)" +
      kConvolution + R"(}
  %b = pooling(%a) {op="max", window=[2, 2], stride=[2, 2], pre_padding=[0, 0], post_padding=[0, 0], dilation=[1, 1]}
  %c = convolution(%b, %v) {)" +
      kConvolution + R"(}
  output "y" %c
})")));
}

TEST(Layout, FewOutputsStayRowMajor) {
  EXPECT_EQ(stepsOfFewOutputs(3, 6, 40), "convolution pooling convolution(0,2,3,1) reformat");
  EXPECT_EQ(stepsOfFewOutputs(1, 8, 16), "convolution pooling convolution(0,2,3,1) reformat");
}

TEST(Layout, MoreOutputsShortLinesAndManyChannelsDoNot) {
  const char* channels_last = "reformat(0,2,3,1) convolution(0,2,3,1) pooling(0,2,3,1) convolution(0,2,3,1) reformat";
  EXPECT_EQ(stepsOfFewOutputs(3, 9, 40), channels_last);
  EXPECT_EQ(stepsOfFewOutputs(3, 6, 15), channels_last);
  EXPECT_EQ(stepsOfFewOutputs(22, 6, 40), channels_last);
}

// oneDNN moves images to blocks and back where channels are grouped and the kernel comes with the call.
TEST(Layout, GroupsWithComputedKernelsStayRowMajor) {
  const auto stepsOfGroups = [](const std::string& groups, const std::string& kernel) {
    return stepsOf(optimizeAndBuild(*network::parse(R"(network "groups" () {
  input %x : float32[2, 16, 24, 24]
  input %w : float32)" + kernel + R"(
  %c = convolution(%x, %w) {stride=[1, 1], pre_padding=[0, 0], post_padding=[0, 0], dilation=[1, 1], groups=)" +
                                                    groups + R"(}
  output "y" %c
})")));
  };
  EXPECT_EQ(stepsOfGroups("4", "[16, 4, 3, 3]"), "convolution");
  EXPECT_EQ(stepsOfGroups("1", "[16, 16, 3, 3]"), "reformat(0,2,3,1) convolution(0,2,3,1) reformat");
}

TEST(Layout, ASliceWritesWhatATranspositionAloneReads) {
  const auto stepsWith = [](const std::string& rest) {
    return stepsOf(optimizeAndBuild(*network::parse(R"(network "turn" () {
  input %x : float32[3, 40, 30]
  %a = slice(%x) {start=[0, 39, 0], size=[3, 40, 30], stride=[1, -1, 1]}
)" + rest + "\n}")));
  };
  EXPECT_EQ(stepsWith(R"(  %b = shuffle(%a) {first_permutation=[2, 0, 1]}
  output "y" %b)"),
            "slice(2,0,1)");
  EXPECT_EQ(stepsWith(R"(  %b = shuffle(%a) {first_permutation=[0, 2, 1]}
  output "y" %b
  output "z" %a)"),
            "slice shuffle");
  EXPECT_EQ(stepsWith(R"(  %b = shuffle(%a) {first_permutation=[0, 2, 1], reshape_dims=[3, 1200]}
  output "y" %b)"),
            "slice shuffle");
}

TEST(Layout, NetworksWithoutConvolutionStayRowMajor) {
  EXPECT_EQ(stepsOf(optimizeAndBuild(*network::parse(R"(network "pool" () {
  input %x : float32[2, 8, 6, 6]
  %c = pooling(%x) {op="max", window=[2, 2], stride=[2, 2], pre_padding=[0, 0], post_padding=[0, 0], dilation=[1, 1]}
  output "y" %c
})"))),
            "pooling");
}

// A network whose input comes channels-last.
plan::Plan planOfComing(const std::string& type, const std::string& layers, const BuildOptions& options = {}) {
  return optimizeAndBuild(*network::parse("network \"coming\" () {\n  input %x : " + type + "\n" + layers + "\n}"),
                          options);
}

constexpr const char* kChannelsLastImage = "float32[2, 24, 20, 40] order=[0, 2, 3, 1]";
constexpr const char* kPooled =
    R"(  %c = pooling(%x) {op="max", window=[2, 2], stride=[2, 2], pre_padding=[0, 0], post_padding=[0, 0], dilation=[1, 1]}
  output "y" %c)";

TEST(Layout, LayersFollowAnInputThatComesChannelsLast) {
  EXPECT_EQ(stepsOf(planOfComing(kChannelsLastImage, kPooled)), "reformat(0,2,3,1) pooling(0,2,3,1) reformat");
  EXPECT_EQ(stepsOf(planOfComing(kChannelsLastImage, R"(  %c = reduce(%x) {op="avg", axes=[2, 3], keep_dims=false}
  output "y" %c)")),
            "reformat(0,2,3,1) adaptive_pooling(0,2,3,1)");
  const std::string few = R"(  %w = fill() {op="constant", dims=[3, 24, 1, 1], dtype=float32, value=0.125}
  %c = convolution(%x, %w) {}
  output "y" %c)";
  EXPECT_EQ(stepsOf(planOfComing(kChannelsLastImage, few)), "reformat(0,2,3,1) convolution(0,2,3,1) reformat");
}

TEST(Layout, AnInputThatComesChannelsLastIsRowMajorToThePlan) {
  for (const bool channels_last : {true, false}) {
    const plan::Plan plan = planOfComing(kChannelsLastImage, kPooled, {.channels_last = channels_last});
    EXPECT_TRUE(plan.tensors[static_cast<size_t>(plan.inputs[0].tensor)].order.empty());
  }
  EXPECT_EQ(stepsOf(planOfComing(kChannelsLastImage, kPooled, {.channels_last = false})), "pooling");
}

TEST(Layout, WhatNeedsRowMajorReadsTheInputItself) {
  EXPECT_EQ(stepsOf(planOfComing(kChannelsLastImage, R"(  %c = softmax(%x) {axis=3}
  output "y" %c)")),
            "softmax");
}

TEST(Layout, InputsThatLieAlikeInBothOrdersNeedNoReorder) {
  EXPECT_EQ(stepsOf(planOfComing("float32[2, 1, 20, 40] order=[0, 2, 3, 1]", kPooled)), "pooling");
}

TEST(Layout, ItCanBeSwitchedOff) {
  const auto network = network::parse(imageNetwork(conv("a", "x") + R"(  output "y" %a)"));
  EXPECT_EQ(stepsOf(optimizeAndBuild(*network, {.channels_last = false})), "convolution");
}

TEST(Layout, AChannelsLastInputIsReadAsItLies) {
  const auto network = network::parse(imageNetwork(conv("a", "x") + R"(  output "y" %a)"));
  const std::string bytes = plan::serialize(optimizeAndBuild(*network));
  const auto engine = engine::loadOn(testing::testDevice(), testing::bytesOf(bytes), nullptr, {}, {});
  std::vector<float> values(2 * 8 * 6 * 6);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 13) - 6;
  }
  testing::HostTensor channels_last({2, 8, 6, 6}, values);
  channels_last.strides = {288, 1, 48, 8};
  testing::HostTensor row_major({2, 8, 6, 6}, values);
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t c = 0; c < 8; ++c) {
      for (int64_t p = 0; p < 36; ++p) {
        row_major.values[static_cast<size_t>(n * 288 + c * 36 + p)] = values[static_cast<size_t>(n * 288 + p * 8 + c)];
      }
    }
  }
  const auto shapes = engine->scheduleFor(std::vector{channels_last.view()}, 1);
  EXPECT_EQ(shapes->input_copies, 0);
  EXPECT_EQ(shapes->skipped.size(), 1) << "the reorder of the input";
  EXPECT_EQ(testing::callEngine(*engine, {channels_last})[0].values(),
            testing::callEngine(*engine, {row_major})[0].values());
}

// A statement about an input is no promise.
TEST(Layout, ResultsDoNotDependOnHowAnInputComes) {
  const auto network = network::parse(imageNetwork(conv("a", "x") + R"(  %b = unary(%x) {op="sin"}
  %c = elementwise(%a, %b) {op="sum"}
  %d = softmax(%x) {axis=3}
  output "y" %c
  output "z" %d)"));
  const plan::Plan row_major = optimizeAndBuild(*network);
  network->getInput(0)->setMemoryOrder({0, 2, 3, 1});
  const plan::Plan channels_last = optimizeAndBuild(*network);
  std::vector<float> values(2 * 8 * 6 * 6);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 23) / 8 - 1;
  }
  const std::vector input = {network::Weights::copyOf(DType::kFloat32, {2, 8, 6, 6}, values.data())};
  const auto expected = runEngine(*loadPlan(row_major), input);
  for (const bool reversed : {false, true}) {
    const auto results = runEngine(*loadPlan(channels_last), input, 1, reversed);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(std::memcmp(results[i].data.get(), expected[i].data.get(), expected[i].bytes()), 0);
    }
  }
}

}  // namespace
}  // namespace torchtrt::builder
