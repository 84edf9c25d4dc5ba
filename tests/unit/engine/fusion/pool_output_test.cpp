// A convolution and the maxima of its pixels, which one kernel computes together.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/load.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule_text.h"
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
  bool channels_last = false;  // what the convolution writes, and the maxima

  int64_t convolved(size_t axis) const {
    const int64_t size = axis == 0 ? height : width;
    return (size + 2 * padding - dilation[axis] * (kernel[axis] - 1) - 1) / stride[axis] + 1;
  }

  plan::Plan plan() const {
    PlanMaker make("net");
    const int32_t x = make.input("x", make.dims({batch, channels, height, width}));
    const int32_t w = make.floats("w", {outputs, channels, kernel[0], kernel[1]},
                                  randomFloats(outputs * channels * kernel[0] * kernel[1], 2));
    const int32_t b = make.floats("b", {outputs}, randomFloats(outputs, 3));
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
    if (channels_last) {
      make.at(y).order = make.at(z).order = {0, 2, 3, 1};
    }
    if (is_read_twice) {
      make.output("y", y);
    }
    plan::fillDefaults(make.plan());
    return make.plan();
  }

  HostTensor input() const {
    std::vector<float> values = randomFloats(batch * channels * height * width, 1);
    values[values.size() / 3] = std::numeric_limits<float>::quiet_NaN();
    return HostTensor({batch, channels, height, width}, values);
  }

  std::string actions() const {
    const plan::Plan made = plan();
    const std::string bytes = plan::serialize(made);
    const auto model = loadModel(plan::parse(testing::bytesOf(bytes), nullptr), Ownership::kNone, {}, device::cpu());
    const HostTensor x = input();
    return actionsOf(made, *buildSchedule(*model, std::vector{x.view()}, 2));
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
  EXPECT_EQ(net.actions(), "convolution + max");
  const std::vector<uint32_t> together = net.maximaBits(1);
  EXPECT_EQ(net.maximaBits(3), together);
  net.is_read_twice = true;
  EXPECT_EQ(net.actions(), "convolution; max");
  EXPECT_EQ(net.maximaBits(1), together);
}

// The same where sums may be those of another tile of rows, added up in another order.
void expectPooledWithin(Net net) {
  SCOPED_TRACE(std::to_string(net.outputs) + " outputs, " + std::to_string(net.width) + " columns");
  EXPECT_EQ(net.actions(), "convolution + max; copy");
  const std::vector<uint32_t> together = net.maximaBits(1);
  EXPECT_EQ(net.maximaBits(3), together);
  net.is_read_twice = true;
  EXPECT_EQ(net.actions(), "convolution; max; copy; copy");
  const std::vector<uint32_t> apart = net.maximaBits(1);
  ASSERT_EQ(apart.size(), together.size());
  for (size_t i = 0; i < apart.size(); ++i) {
    const auto a = std::bit_cast<float>(apart[i]);
    const auto b = std::bit_cast<float>(together[i]);
    EXPECT_EQ(std::isnan(a), std::isnan(b)) << i;
    EXPECT_FALSE(std::abs(a - b) > 1e-5F) << i << ": " << a << " and " << b;
  }
}

TEST(PoolOutput, EveryNumberOfOutputs) {
  for (int64_t outputs = 1; outputs <= 8; ++outputs) {
    expectPooled({.outputs = outputs});
  }
}

TEST(PoolOutput, EveryTailOfColumns) {
  for (int64_t width = 34; width <= 51; ++width) {
    expectPooled({.height = 9, .width = width});
  }
}

// Fewer maxima than a vector has lanes: one kernel or two, by the instruction set, and the same bits.
TEST(PoolOutput, ShortRows) {
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

TEST(PoolOutput, ChannelsKernelsAndActivations) {
  expectPooled({.channels = 3, .width = 40, .kernel = {5, 5}});
  expectPooled({.channels = 2, .width = 40, .kernel = {2, 3}, .dilation = {3, 2}});
  expectPooled({.channels = 4, .width = 40, .kernel = {1, 1}, .stride = {2, 1}});
  expectPooled({.activation = ""});
  expectPooled({.activation = "tanh"});
  expectPooled({.activation = "hard_swish"});
}

// Lines are read from copies.
TEST(PoolOutput, PaddingAndStrides) {
  for (const int64_t outputs : {1, 4, 6, 8}) {
    for (const int64_t k : {1, 3, 5, 7}) {
      for (int64_t stride = 1; stride <= std::min<int64_t>(k, 3); ++stride) {
        SCOPED_TRACE(std::to_string(k) + " wide, stride " + std::to_string(stride));
        expectPooled({.channels = 3,
                      .width = 36 * stride + 1,
                      .outputs = outputs,
                      .kernel = {k, k},
                      .stride = {stride, stride},
                      .padding = k / 2});
      }
    }
  }
  expectPooled({.channels = 2, .width = 80, .kernel = {3, 5}, .dilation = {2, 3}, .padding = 3});
  expectPooled({.width = 80, .kernel = {1, 1}, .stride = {1, 2}});
  expectPooled({.batch = 1, .channels = 3, .height = 11, .width = 1501, .kernel = {5, 5}, .padding = 2});
  expectPooled({.batch = 1, .channels = 4, .height = 90, .width = 300, .padding = 1});
}

// A channels-last result is that of a matmul, whose rows are windows now.
TEST(PoolOutput, Products) {
  for (const int64_t outputs : {2, 8, 16, 17, 48, 100}) {
    expectPooledWithin({.channels = 6, .height = 15, .width = 15, .outputs = outputs, .channels_last = true});
  }
  for (int64_t width = 4; width <= 12; ++width) {
    expectPooledWithin({.channels = 3, .height = 8, .width = width, .outputs = 16, .channels_last = true});
  }
  expectPooledWithin(
      {.batch = 3, .channels = 5, .outputs = 24, .kernel = {2, 5}, .activation = "", .channels_last = true});
  expectPooledWithin({.channels = 2, .outputs = 9, .dilation = {3, 1}, .activation = "tanh", .channels_last = true});
  expectPooledWithin({.channels = 4, .height = 31, .outputs = 16, .stride = {2, 2}, .channels_last = true});
  expectPooledWithin({.channels = 16, .outputs = 16, .kernel = {1, 1}, .channels_last = true});
  expectPooledWithin({.outputs = 8, .channels_last = true});  // fills the buffer of rows to its last float
}

// The images are padded in a copy.
TEST(PoolOutput, PaddedProducts) {
  Net net = {.channels = 6, .height = 15, .width = 14, .outputs = 17, .padding = 1, .channels_last = true};
  for (const int64_t channels : {1, 3, 6, 16}) {
    net.channels = channels;
    SCOPED_TRACE(std::to_string(channels) + " channels");
    EXPECT_EQ(net.actions(), "convolution + max; copy");
    expectPooledWithin(net);
  }
  expectPooledWithin({.channels = 2, .kernel = {5, 5}, .stride = {2, 2}, .padding = 4, .channels_last = true});
  expectPooledWithin({.channels = 3, .height = 9, .dilation = {3, 1}, .padding = 3, .channels_last = true});
}

TEST(PoolOutput, ProductsThatStayApart) {
  const Net net = {.channels = 6, .height = 15, .width = 15, .outputs = 16, .channels_last = true};
  ASSERT_EQ(net.actions(), "convolution + max; copy");
  Net large = net;  // more rows than the table takes
  large.height = large.width = 80;
  EXPECT_EQ(large.actions(), "convolution; max; copy");
  Net deep = net;  // more weights than stay in the cache
  deep.channels = 15;
  deep.outputs = 300;
  EXPECT_EQ(deep.actions(), "convolution; max; copy");
}

TEST(PoolOutput, WhatStaysApart) {
  EXPECT_EQ(Net{.op = "average"}.actions(), "convolution; average");
  EXPECT_EQ((Net{.window = {3, 3}}.actions()), "convolution; max");
  EXPECT_EQ(Net{.ceil_mode = true}.actions(), "convolution; max");  // 33 columns: the last window is cut
}

}  // namespace
}  // namespace torchtrt::engine
