// A 1x1 convolution that the depthwise one behind it computes line by line, with the means of the result or without.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "device/cpu/properties.h"
#include "engine/load.h"
#include "engine/schedule/schedule.h"
#include "engine/schedule_text.h"

namespace torchtrt::engine {
namespace {

using testing::HostTensor;
using testing::PlanMaker;
using Ints = std::vector<int64_t>;

// The image between the two is larger than second-level caches: no smaller one is computed so.
struct Net {
  int64_t batch = 1, channels = 8, wide = 96, height = 176, width = 160;
  int64_t kernel = 3, stride = 1, dilation = 1, padding = 1;
  int64_t first_kernel = 1;  // of the convolution before
  bool bias = true, means = false, residual = false;
  bool is_read_twice = false;  // the image between is an output, too

  int64_t padded() const {
    return first_kernel / 2;
  }
  int64_t out(int64_t size) const {
    return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }

  struct Spatial {
    int64_t stride, dilation, padding;  // of both axes
  };

  int32_t convolve(PlanMaker& make, const std::vector<int32_t>& inputs, std::vector<plan::Register> dims,
                   int64_t groups, const Spatial& spatial) const {
    const int32_t y = make.step("convolution", inputs, std::move(dims),
                                {{"groups", groups},
                                 {"stride", Ints{spatial.stride, spatial.stride}},
                                 {"dilation", Ints{spatial.dilation, spatial.dilation}},
                                 {"pre_padding", Ints{spatial.padding, spatial.padding}},
                                 {"post_padding", Ints{spatial.padding, spatial.padding}},
                                 {"activation", std::string("hard_swish")}});
    make.at(y).order = kChannelsLast;
    return y;
  }

  plan::Plan plan() const {
    PlanMaker make("net");
    const int32_t x = reorder(make, make.input("x", make.dims({batch, channels, height, width})), kChannelsLast);
    const auto weights = [&](int64_t outputs, int64_t of_each, int64_t size, unsigned seed) {
      return make.floats("w", {outputs, of_each, size, size}, randomFloats(outputs * of_each * size * size, seed));
    };
    const int32_t b = bias ? make.floats("b", {wide}, randomFloats(wide, 3)) : -1;
    std::vector<int32_t> first = {x, weights(wide, channels, first_kernel, 2), b};
    if (residual) {
      first.push_back(reorder(make, make.input("r", make.dims({batch, wide, height, width})), kChannelsLast));
    }
    const int32_t between = convolve(make, first, make.dims({batch, wide, height, width}), 1, {1, 1, padded()});
    const int32_t y = convolve(make, {between, weights(wide, 1, kernel, 4), b},
                               make.dims({batch, wide, out(height), out(width)}), wide, {stride, dilation, padding});
    if (means) {
      const int32_t mean = make.step("adaptive_pooling", {y}, make.dims({batch, wide, 1, 1}),
                                     {{"op", std::string("average")}, {"return_indices", false}});
      make.lastStep().dims = {{"output_size", make.dims({1, 1})}};
      make.output("m", mean);
    }
    addOutput(make, "y", y);
    if (is_read_twice) {
      addOutput(make, "between", between);
    }
    return make.plan();
  }

  std::vector<HostTensor> inputs() const {
    std::vector<HostTensor> all;
    all.emplace_back(HostTensor({batch, channels, height, width}, randomFloats(batch * channels * height * width, 1)));
    if (residual) {
      all.emplace_back(HostTensor({batch, wide, height, width}, randomFloats(batch * wide * height * width, 5)));
    }
    return all;
  }

  std::string rules(int threads = 1) const {
    const auto model =
        loadModel(plan::parse(testing::bytesOf(plan::serialize(plan())), nullptr), Ownership::kNone, {}, device::cpu());
    const std::vector<HostTensor> given = inputs();
    return rulesOf(*buildSchedule(*model, testing::viewsOf(given), threads));
  }

  std::vector<std::vector<float>> call(bool reference, int threads) const {
    LoadOptions options;
    options.force_reference = reference;
    std::vector<std::vector<float>> results;
    for (const auto& output : testing::callEngine(*loadBytes(plan::serialize(plan()), options), inputs(), threads)) {
      results.push_back(output.values());
    }
    return results;
  }
};

// Computed together, with the reference's results, in the same bits on any number of threads.
void expectFused(const Net& net) {
  ASSERT_EQ(net.rules(), "depthwise_lines");
  const auto expected = net.call(true, 1);
  const auto got = net.call(false, 1);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), expected[i].size());
    for (size_t k = 0; k < got[i].size(); ++k) {
      ASSERT_NEAR(got[i][k], expected[i][k], 2e-5) << i << ", " << k;
    }
  }
  for (const int threads : {2, 3}) {
    EXPECT_EQ(net.call(false, threads), got) << threads << " threads";
  }
}

// The rule depends on the second-level cache, so each machine tests with the same one.
class DepthwiseLines : public ::testing::Test {
 protected:
  static constexpr size_t kCacheBytes = size_t{1} << 20;

  void SetUp() override {
    device::cpuPropertiesForTests().l2_bytes = kCacheBytes;
  }
  void TearDown() override {
    device::cpuPropertiesForTests().l2_bytes = found_;
  }

 private:
  const size_t found_ = device::cpu().properties().l2_bytes;
};

TEST_F(DepthwiseLines, WindowsAndStrides) {
  expectFused({});
  expectFused({.stride = 2});
  expectFused({.kernel = 5, .stride = 2, .padding = 2});
  expectFused({.kernel = 3, .dilation = 2, .padding = 2});
  expectFused({.kernel = 1, .stride = 3, .padding = 0});
}

TEST_F(DepthwiseLines, OddSizes) {
  expectFused({.channels = 5, .wide = 91, .height = 183, .width = 161});
  expectFused({.channels = 3, .wide = 100, .height = 177, .width = 153, .stride = 2, .padding = 0});
  expectFused({.wide = 17, .height = 1200, .width = 129, .bias = false});
}

TEST_F(DepthwiseLines, Batches) {
  expectFused({.batch = 3, .height = 60, .means = true});
  expectFused({.batch = 40, .wide = 640, .height = 7, .width = 15});
}

TEST_F(DepthwiseLines, MeansToo) {
  expectFused({.means = true});
  expectFused({.wide = 90, .height = 181, .stride = 2, .means = true});
}

// Lines of any length: a tile of the whole product may hold the end of one and the beginning of the next.
TEST_F(DepthwiseLines, BitsAreThoseOfTheStepsApart) {
  for (const int64_t width : {160, 161, 155, 150, 147}) {
    const Net net{.batch = 3, .channels = 21, .wide = 61, .height = 115, .width = width, .stride = 2, .means = true};
    Net apart = net;
    apart.is_read_twice = true;
    ASSERT_EQ(net.rules(), "depthwise_lines");
    ASSERT_EQ(apart.rules(), "average_output");
    const auto one_by_one = apart.call(false, 2);
    const auto together = net.call(false, 2);
    EXPECT_EQ(together[0], one_by_one[0]) << width;
    EXPECT_EQ(together[1], one_by_one[1]) << width;
  }
}

TEST_F(DepthwiseLines, WhatStaysApart) {
  EXPECT_EQ(Net({.is_read_twice = true}).rules(), "");
  EXPECT_EQ(Net({.residual = true}).rules(), "");
  EXPECT_EQ(Net({.first_kernel = 3}).rules(), "");
  EXPECT_EQ(Net({.wide = 24, .height = 28, .width = 28}).rules(), "");  // stays in the cache as it is
  EXPECT_EQ(Net({.height = 8, .width = 4000}).rules(), "");             // lines that do not
  EXPECT_EQ(Net({.height = 60}).rules(16), "");
  EXPECT_EQ(Net({.batch = 0}).rules(), "");
}

}  // namespace
}  // namespace torchtrt::engine
