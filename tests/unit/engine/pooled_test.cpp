// A convolution with few outputs and the maxima of its pixels, which one kernel computes together.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "engine/specialization.h"
#include "load.h"
#include "plan/families.h"

namespace torchtrt::engine {
namespace {

using testing::HostTensor;
using testing::PlanMaker;
using Ints = std::vector<int64_t>;

struct Net {
  int64_t batch = 2, channels = 1, height = 20, width = 35, outputs = 6;
  Ints kernel = {3, 3};
  Ints dilation = {1, 1};
  Ints stride = {1, 1};
  int64_t padding = 0;
  std::string activation = "relu";
  std::string op = "max";
  Ints window = {2, 2};
  bool ceil_mode = false;
  bool is_read_twice = false;  // the convolution is an output, too

  std::vector<float> random(int64_t count, unsigned seed) const {
    std::mt19937 generator(seed);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) {
      value = std::uniform_real_distribution<float>(-1, 1)(generator);
    }
    return values;
  }

  int64_t convolved(size_t axis) const {
    const int64_t size = axis == 0 ? height : width;
    return (size + 2 * padding - dilation[axis] * (kernel[axis] - 1) - 1) / stride[axis] + 1;
  }

  plan::Plan plan() const {
    PlanMaker make("net");
    const int32_t x = make.input("x", make.dims({batch, channels, height, width}));
    const int32_t w = make.floats("w", {outputs, channels, kernel[0], kernel[1]},
                                  random(outputs * channels * kernel[0] * kernel[1], 2));
    const int32_t b = make.floats("b", {outputs}, random(outputs, 3));
    const int32_t y = make.step("convolution", {x, w, b}, make.dims({batch, outputs, convolved(0), convolved(1)}),
                                {{"groups", int64_t{1}},
                                 {"stride", stride},
                                 {"dilation", dilation},
                                 {"pre_padding", Ints{padding, padding}},
                                 {"post_padding", Ints{padding, padding}},
                                 {"activation", activation}});
    const int64_t more = ceil_mode ? 1 : 0;
    const int64_t height_out = (convolved(0) - window[0] + more) / 2 + 1;
    const int64_t width_out = (convolved(1) - window[1] + more) / 2 + 1;
    const int32_t z = make.step("pooling", {y}, make.dims({batch, outputs, height_out, width_out}),
                                {{"op", op},
                                 {"window", window},
                                 {"stride", Ints{2, 2}},
                                 {"dilation", Ints{1, 1}},
                                 {"pre_padding", Ints{0, 0}},
                                 {"post_padding", Ints{0, 0}},
                                 {"ceil_mode", ceil_mode},
                                 {"return_indices", false}});
    make.output("z", z);
    if (is_read_twice) {
      make.output("y", y);
    }
    plan::fillDefaults(make.plan());
    return make.plan();
  }

  HostTensor input() const {
    std::vector<float> values = random(batch * channels * height * width, 1);
    values[values.size() / 3] = std::numeric_limits<float>::quiet_NaN();
    return HostTensor({batch, channels, height, width}, values);
  }

  size_t countActions() const {
    const std::string bytes = plan::serialize(plan());
    const auto model = loadModel(plan::parse(testing::bytesOf(bytes), nullptr), Ownership::kNone, {}, device::cpu());
    const HostTensor x = input();
    return specialize(*model, std::vector{x.view()}, 2)->actions.size();
  }

  std::vector<uint32_t> maximaBits(int threads) const {
    const auto engine = loadBytes(plan::serialize(plan()), {});
    std::vector<uint32_t> bits;
    for (const float value : testing::callEngine(*engine, {input()}, threads)[0].values()) {
      bits.push_back(std::isnan(value) ? 0x7FC00000U : std::bit_cast<uint32_t>(value));
    }
    return bits;
  }
};

// One kernel writes what two did, bit by bit.
void expectPooled(Net net) {
  EXPECT_EQ(net.countActions(), 1U);
  const std::vector<uint32_t> together = net.maximaBits(1);
  EXPECT_EQ(net.maximaBits(3), together);
  net.is_read_twice = true;
  EXPECT_EQ(net.countActions(), 2U);
  EXPECT_EQ(net.maximaBits(1), together);
}

TEST(Pooled, EveryNumberOfOutputs) {
  for (int64_t outputs = 1; outputs <= 8; ++outputs) {
    expectPooled({.outputs = outputs});
  }
}

TEST(Pooled, EveryTailOfColumns) {
  for (int64_t width = 34; width <= 51; ++width) {
    expectPooled({.height = 9, .width = width});
  }
}

// Fewer maxima than a vector has lanes: one kernel or two, by the instruction set, and the same bits.
TEST(Pooled, ShortRows) {
  for (int64_t width = 10; width <= 33; ++width) {
    for (const int64_t outputs : {1, 6, 8}) {
      Net net{.height = 9, .width = width, .outputs = outputs};
      const std::vector<uint32_t> maxima = net.maximaBits(1);
      EXPECT_EQ(net.maximaBits(3), maxima);
      net.is_read_twice = true;
      EXPECT_EQ(net.maximaBits(1), maxima) << width << " columns, " << outputs << " outputs";
    }
  }
}

TEST(Pooled, ChannelsKernelsAndActivations) {
  expectPooled({.channels = 3, .width = 40, .kernel = {5, 5}});
  expectPooled({.channels = 2, .width = 40, .kernel = {2, 3}, .dilation = {3, 2}});
  expectPooled({.channels = 4, .width = 40, .kernel = {1, 1}, .stride = {2, 1}});
  expectPooled({.activation = ""});
  expectPooled({.activation = "tanh"});
  expectPooled({.activation = "hard_swish"});
}

TEST(Pooled, WhatStaysApart) {
  EXPECT_EQ(Net{.padding = 1}.countActions(), 2U);
  EXPECT_EQ((Net{.width = 80, .stride = {1, 2}}.countActions()), 2U);
  EXPECT_EQ(Net{.width = 9}.countActions(), 2U);  // less than a vector of maxima
  EXPECT_EQ(Net{.op = "average"}.countActions(), 2U);
  EXPECT_EQ((Net{.window = {3, 3}}.countActions()), 2U);
  EXPECT_EQ(Net{.ceil_mode = true}.countActions(), 2U);  // 33 columns: the last window is cut
}

}  // namespace
}  // namespace torchtrt::engine
