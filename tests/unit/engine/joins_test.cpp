// Steps that one kernel computes together: a squeeze and excitation block, as networks for phones have them, and blocks
// that look like one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "engine/specialization.h"
#include "load.h"

namespace torchtrt::engine {
namespace {

using testing::HostTensor;
using testing::PlanMaker;

// A depthwise convolution, its mean, factors, the product and a 1x1 convolution with the input as its residual, between
// changes of the memory order.
constexpr size_t kSteps = 7;

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

// How many kernels a call of the block runs.
size_t countActions(const Block& block) {
  const HostTensor x({block.batch, block.channels, block.height, block.width}, {});
  const std::string bytes = plan::serialize(block.plan());
  const auto model = loadModel(plan::parse(testing::bytesOf(bytes), nullptr), Ownership::kNone, {}, device::cpu());
  return specialize(*model, std::vector{x.view()}, 2)->actions.size();
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

// The block runs `joined` kernels fewer than it has steps, `added` of them by change(), and computes what the reference
// does, in the same bits on any number of threads.
void expectJoined(const Block& block, size_t joined, size_t added = 0) {
  EXPECT_EQ(countActions(block), kSteps + added - joined);
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

TEST(Joins, MeanAndProductOfABlock) {
  expectJoined({}, 2);
  expectJoined({.residual = false}, 2);
  expectJoined({.factors_first = true}, 2);
}

TEST(Joins, OddSizesAndBatches) {
  for (const int64_t batch : {1, 2, 3}) {
    for (const int64_t channels : {2, 7, 33, 72}) {
      expectJoined({.batch = batch, .channels = channels, .outputs = channels}, 2);
    }
    expectJoined({.batch = batch, .height = 3, .width = 2, .outputs = 5, .residual = false}, 2);
    expectJoined({.batch = batch, .height = 1, .width = 17}, 2);
    expectJoined({.batch = batch, .channels = 40, .height = 28, .width = 29, .outputs = 50, .residual = false}, 2);
  }
}

TEST(Joins, ManyWeightsForFewRows) {
  expectJoined({.channels = 700, .height = 7, .width = 7, .outputs = 160, .residual = false}, 2);
}

TEST(Joins, BitsAreThoseOfTheStepsApart) {
  const Block block{.batch = 2, .channels = 40, .height = 28, .width = 28, .outputs = 48, .residual = false};
  Block apart = block;
  apart.change = [](PlanMaker& make, int32_t, int32_t, int32_t product) { addOutput(make, "p", product); };
  expectJoined(apart, 1, 1);
  EXPECT_EQ(call(block.plan(), block, false, 2)[0], call(apart.plan(), apart, false, 2)[0]);
}

TEST(Joins, MeansMayBeAnOutput) {
  expectJoined({.change = [](PlanMaker& make, int32_t, int32_t means, int32_t) { make.output("m", means); }}, 2);
}

// Sums that stay beside what is added to them would lose its last digits.
TEST(Joins, MeansOfLongLines) {
  const auto change = [](PlanMaker& make, int32_t, int32_t means, int32_t) { make.output("m", means); };
  const Block block{.channels = 9, .height = 1, .width = 300'000, .outputs = 3, .residual = false, .change = change};
  EXPECT_EQ(countActions(block), kSteps - 2);
  const auto expected = call(block.plan(), block, true, 1)[1];
  const auto got = call(block.plan(), block, false, 2)[1];
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-6 * std::abs(expected[i])) << i;
  }
}

TEST(Joins, WhatAveragesMayBeAnOutputAndReadTwice) {
  const auto change = [](PlanMaker& make, int32_t convolved, int32_t, int32_t) {
    addOutput(make, "c", convolved);
    const int32_t relu = make.activation("relu", convolved);
    make.at(relu).order = kChannelsLast;
    addOutput(make, "r", relu);
  };
  expectJoined({.change = change}, 2, 3);
}

TEST(Joins, ProductsThatStay) {
  // Too many weights to stay in the cache.
  expectJoined({.channels = 700, .height = 9, .width = 8, .outputs = 160, .residual = false}, 1);
  expectJoined({.channels = 700, .height = 7, .width = 7, .outputs = 300, .residual = false}, 1);
  expectJoined({.window = 3}, 1);
  expectJoined({.op = "sum"}, 1);
  expectJoined({.op = "div"}, 1);
  expectJoined({.activation = "relu"}, 1);
  expectJoined({.batch = 2, .same_for_all_images = true}, 1);
  const auto twice = [](PlanMaker& make, int32_t, int32_t, int32_t product) {
    const int32_t relu = make.activation("relu", product);
    make.at(relu).order = kChannelsLast;
    addOutput(make, "p", relu);
  };
  expectJoined({.change = twice}, 1, 2);
}

TEST(Joins, AveragesThatStay) {
  expectJoined({.averages = 2}, 1, 1);
  expectJoined({.pooling = "max"}, 1);
}

TEST(Joins, NothingIsJoinedForEmptyBatches) {
  EXPECT_EQ(countActions({.batch = 0}), 0U);
}

}  // namespace
}  // namespace torchtrt::engine
