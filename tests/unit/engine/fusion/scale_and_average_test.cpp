// Steps that one kernel computes together: a squeeze and excitation block, as networks for phones have them, and blocks
// that look like one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "engine/load.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule_text.h"

namespace torchtrt::engine {
namespace {

using testing::HostTensor;
using testing::PlanMaker;

// A depthwise convolution, its mean, factors, the product and a 1x1 convolution with the input as its residual, between
// changes of the memory order.
struct Block {
  int64_t batch = 1, channels = 24, height = 9, width = 7;
  int64_t outputs = 24;
  bool residual = true;
  bool factors_first = false;
  int64_t window = 1;                                             // of the convolution that reads the product
  int64_t averages = 1;                                           // lines and columns
  std::string op = "prod", pooling = "average", activation = "";  // of the product
  bool same_for_all_images = false;
  std::function<void(PlanMaker& make, int32_t convolved, int32_t means, int32_t product)> change = {};

  int32_t convolve(PlanMaker& make, int32_t input, int64_t to, int64_t window, int64_t groups,
                   int32_t added = -1) const {
    const int64_t pad = window / 2;
    const int64_t per_group = channels / groups;
    std::vector<int32_t> inputs = {
        input, make.floats("w", {to, per_group, window, window}, randomFloats(to * per_group * window * window, 2)),
        make.floats("b", {to}, randomFloats(to, 3))};
    if (added >= 0) {
      inputs.push_back(added);
    }
    using Ints = std::vector<int64_t>;
    const int32_t output = make.step("convolution", inputs, make.dims({batch, to, height, width}),
                                     {{"groups", groups},
                                      {"stride", Ints{1, 1}},
                                      {"dilation", Ints{1, 1}},
                                      {"pre_padding", Ints{pad, pad}},
                                      {"post_padding", Ints{pad, pad}},
                                      {"activation", std::string(groups > 1 ? "hard_swish" : "")}});
    make.at(output).order = kChannelsLast;
    return output;
  }

  plan::Plan plan() const {
    PlanMaker make("block");
    const int32_t x = reorder(make, make.input("x", make.dims({batch, channels, height, width})), kChannelsLast);
    const int32_t convolved = convolve(make, x, channels, 3, channels);
    const int32_t means = make.step("adaptive_pooling", {convolved}, make.dims({batch, channels, averages, averages}),
                                    {{"op", pooling}, {"return_indices", false}});
    make.lastStep().dims = {{"output_size", make.dims({averages, averages})}};
    int32_t factors = make.activation("sigmoid", means);
    if (averages != 1) {
      make.at(means).order = kChannelsLast;
      make.at(factors).order = kChannelsLast;
      addOutput(make, "factors", factors);
      factors = make.floats("f", {batch, channels, 1, 1}, randomFloats(batch * channels, 4));
    }
    if (same_for_all_images) {
      factors = make.floats("f", {1, channels, 1, 1}, randomFloats(channels, 4));
    }
    const int32_t product =
        make.step("elementwise", factors_first ? std::vector{factors, convolved} : std::vector{convolved, factors},
                  make.dims({batch, channels, height, width}), {{"op", op}, {"activation", activation}});
    make.at(product).order = kChannelsLast;
    addOutput(make, "y", convolve(make, product, outputs, window, 1, residual ? x : -1));
    if (change) {
      change(make, convolved, means, product);
    }
    return make.plan();
  }
};

std::string rules(const Block& block) {
  const HostTensor x({block.batch, block.channels, block.height, block.width}, {});
  const std::string bytes = plan::serialize(block.plan());
  const auto model = loadModel(plan::parse(testing::bytesOf(bytes), nullptr), Ownership::kNone, {}, device::cpu());
  return rulesOf(*buildSchedule(*model, std::vector{x.view()}, 2));
}

std::vector<std::vector<float>> call(const plan::Plan& plan, const Block& block, bool reference, int threads) {
  LoadOptions options;
  options.force_reference = reference;
  const auto engine = loadBytes(plan::serialize(plan), options);
  const HostTensor x({block.batch, block.channels, block.height, block.width},
                     randomFloats(block.batch * block.channels * block.height * block.width, 1));
  std::vector<std::vector<float>> results;
  for (const auto& output : testing::callEngine(*engine, {x}, threads)) {
    results.push_back(output.values());
  }
  return results;
}

constexpr const char* kBoth = "average_output, scale_input";

// The rules apply to the block, which computes what the reference does, in the same bits on any number of threads.
void expectRules(const Block& block, const std::string& wanted) {
  EXPECT_EQ(rules(block), wanted);
  const plan::Plan plan = block.plan();
  const auto expected = call(plan, block, true, 1);
  const auto got = call(plan, block, false, 1);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), expected[i].size());
    for (size_t k = 0; k < got[i].size(); ++k) {
      ASSERT_NEAR(got[i][k], expected[i][k], 2e-6 * std::sqrt(static_cast<double>(block.channels))) << i << ", " << k;
    }
  }
  for (const int threads : {2, 3}) {
    EXPECT_EQ(call(plan, block, false, threads), got) << threads << " threads";
  }
}

TEST(ScaleAndAverage, MeanAndProductOfABlock) {
  expectRules({}, kBoth);
  expectRules({.residual = false}, kBoth);
  expectRules({.factors_first = true}, kBoth);
}

TEST(ScaleAndAverage, OddSizesAndBatches) {
  for (const int64_t batch : {1, 2, 3}) {
    for (const int64_t channels : {2, 7, 33, 72}) {
      expectRules({.batch = batch, .channels = channels, .outputs = channels}, kBoth);
    }
    expectRules({.batch = batch, .height = 3, .width = 2, .outputs = 5, .residual = false}, kBoth);
    expectRules({.batch = batch, .height = 1, .width = 17}, kBoth);
    expectRules({.batch = batch, .channels = 40, .height = 28, .width = 29, .outputs = 50, .residual = false}, kBoth);
  }
}

TEST(ScaleAndAverage, ManyWeightsForFewRows) {
  expectRules({.channels = 700, .height = 7, .width = 7, .outputs = 160, .residual = false}, kBoth);
}

TEST(ScaleAndAverage, BitsAreThoseOfTheStepsApart) {
  const Block block{.batch = 2, .channels = 40, .height = 28, .width = 28, .outputs = 48, .residual = false};
  Block apart = block;
  apart.change = [](PlanMaker& make, int32_t, int32_t, int32_t product) { addOutput(make, "p", product); };
  expectRules(apart, "average_output");
  EXPECT_EQ(call(block.plan(), block, false, 2)[0], call(apart.plan(), apart, false, 2)[0]);
}

TEST(ScaleAndAverage, MeansMayBeAnOutput) {
  expectRules({.change = [](PlanMaker& make, int32_t, int32_t means, int32_t) { make.output("m", means); }}, kBoth);
}

// Sums that stay beside what is added to them would lose its last digits.
TEST(ScaleAndAverage, MeansOfLongLines) {
  const auto change = [](PlanMaker& make, int32_t, int32_t means, int32_t) { make.output("m", means); };
  const Block block{.channels = 9, .height = 1, .width = 300'000, .outputs = 3, .residual = false, .change = change};
  EXPECT_EQ(rules(block), kBoth);
  const auto expected = call(block.plan(), block, true, 1)[1];
  const auto got = call(block.plan(), block, false, 2)[1];
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-6 * std::abs(expected[i])) << i;
  }
}

TEST(ScaleAndAverage, WhatAveragesMayBeAnOutputAndReadTwice) {
  const auto change = [](PlanMaker& make, int32_t convolved, int32_t, int32_t) {
    addOutput(make, "c", convolved);
    const int32_t relu = make.activation("relu", convolved);
    make.at(relu).order = kChannelsLast;
    addOutput(make, "r", relu);
  };
  expectRules({.change = change}, kBoth);
}

TEST(ScaleAndAverage, ProductsThatStay) {
  // Too many weights to stay in the cache.
  expectRules({.channels = 700, .height = 9, .width = 8, .outputs = 160, .residual = false}, "average_output");
  expectRules({.channels = 700, .height = 7, .width = 7, .outputs = 300, .residual = false}, "average_output");
  expectRules({.window = 3}, "average_output");
  expectRules({.op = "sum"}, "average_output");
  expectRules({.op = "div"}, "average_output");
  expectRules({.activation = "relu"}, "average_output");
  expectRules({.batch = 2, .same_for_all_images = true}, "average_output");
  const auto twice = [](PlanMaker& make, int32_t, int32_t, int32_t product) {
    const int32_t relu = make.activation("relu", product);
    make.at(relu).order = kChannelsLast;
    addOutput(make, "p", relu);
  };
  expectRules({.change = twice}, "average_output");
}

TEST(ScaleAndAverage, AveragesThatStay) {
  expectRules({.averages = 2}, "scale_input");
  expectRules({.pooling = "max"}, "scale_input");
}

TEST(ScaleAndAverage, NothingIsJoinedForEmptyBatches) {
  EXPECT_EQ(rules({.batch = 0}), "");
}

}  // namespace
}  // namespace torchtrt::engine
