#include "quantization/range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace torchtrt::quantization {
namespace {

Histogram of(const std::vector<float>& values) {
  Histogram histogram;
  histogram.add(values.data(), values.size());
  return histogram;
}

// A normal distribution, the same for the same seed on every machine.
std::vector<float> normal(int count, float deviation, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    double sum = -6;
    for (int j = 0; j < 12; ++j) {
      sum += static_cast<double>(random()) / 4294967296.0;
    }
    values.push_back(static_cast<float>(sum) * deviation);
  }
  return values;
}

std::vector<float> relu(std::vector<float> values) {
  for (float& value : values) {
    value = std::max(value, 0.0F);
  }
  return values;
}

void expectRange(const std::optional<Range>& range, double low, double high) {
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->low, low);
  EXPECT_EQ(range->high, high);
}

TEST(Range, MinMaxIsAllOfIt) {
  expectRange(rangeOf(of({-0.5F, 3, 1}), {.method = Method::kMinMax}), -0.5, 3);
}

TEST(Range, AlwaysReachesZero) {
  expectRange(rangeOf(of({2, 3}), {.method = Method::kMinMax}), 0, 3);
  expectRange(rangeOf(of({-2, -3}), {.method = Method::kMinMax}), -3, 0);
  for (const Method method : {Method::kEntropy, Method::kPercentile}) {
    EXPECT_EQ(rangeOf(of(relu(normal(1000, 1))), {.method = method})->low, 0);
  }
}

TEST(Range, OfNothingIsNone) {
  for (const Method method : {Method::kEntropy, Method::kMinMax, Method::kPercentile}) {
    EXPECT_EQ(rangeOf(of({}), {.method = method}), std::nullopt);
    EXPECT_EQ(rangeOf(of({0, 0, std::nanf("")}), {.method = method}), std::nullopt);
  }
}

TEST(Range, PercentileLeavesTheOutermostOut) {
  // 98 values of magnitude 1 in bins of 64/2048: the limit is the end of their bin, and the rest lies beyond.
  std::vector<float> values(98, 1);
  values[0] = -1;
  values.push_back(-50);
  values.push_back(60);
  expectRange(rangeOf(of(values), {.method = Method::kPercentile, .percentile = 98}), -1 - 1.0 / 32, 1 + 1.0 / 32);
  expectRange(rangeOf(of(values), {.method = Method::kPercentile, .percentile = 98.5}), -50, 50);
  expectRange(rangeOf(of(values), {.method = Method::kPercentile, .percentile = 100}), -50, 60);
}

TEST(Range, PercentileCountsZeros) {
  std::vector<float> values(99, 0);
  values.push_back(8);
  expectRange(rangeOf(of(values), {.method = Method::kPercentile, .percentile = 99}), 0, 16.0 / 2048);
  expectRange(rangeOf(of(values), {.method = Method::kPercentile, .percentile = 99.5}), 0, 8);
}

TEST(Range, EntropyKeepsAllOfAnEvenDistribution) {
  std::vector<float> values;
  for (int i = 0; i < 100000; ++i) {
    values.push_back(static_cast<float>(i) / 100000);
  }
  const Range range = *rangeOf(of(values), {});
  EXPECT_EQ(range.low, 0);
  EXPECT_GT(range.high, 0.99);
}

TEST(Range, EntropyClipsRareOutliers) {
  std::vector<float> values = normal(100000, 1);
  values.push_back(100);
  values.push_back(-80);
  const Range range = *rangeOf(of(values), {});
  // 256 bins of 128/2048 on both sides of zero are the narrowest range that is tried.
  EXPECT_GE(range.high, 8);
  EXPECT_LT(range.high, 30);
  EXPECT_EQ(range.low, -range.high);
}

TEST(Range, EntropyOfAReluClipsAbove) {
  std::vector<float> values = relu(normal(100000, 1));
  values.push_back(40);
  const Range range = *rangeOf(of(values), {});
  EXPECT_EQ(range.low, 0);
  EXPECT_GT(range.high, 3);
  EXPECT_LT(range.high, 20);
}

TEST(Range, EntropyIsNotMovedByZeros) {
  const std::vector<float> values = relu(normal(20000, 1));
  std::vector<float> with_zeros = values;
  with_zeros.resize(1000000);
  expectRange(rangeOf(of(with_zeros), {}), 0, rangeOf(of(values), {})->high);
}

TEST(Range, EntropyOfSymmetricStepsLooksAtMagnitudes) {
  std::vector<float> values = normal(50000, 1);
  const Range both = *rangeOf(of(values), {.symmetric = true});
  for (float& value : values) {
    value = std::abs(value);
  }
  const Range folded = *rangeOf(of(values), {.symmetric = true});
  EXPECT_NEAR(both.high, folded.high, 1e-9);
  EXPECT_EQ(folded.low, 0);
}

// ---- steps ----

TEST(Steps, OfARangeOnBothSides) {
  const Steps steps = *stepsOf({-1, 3}, false);
  EXPECT_EQ(steps.to, DType::kUInt8);
  EXPECT_EQ(steps.scale, static_cast<double>(3.0F / 191.0F));
  EXPECT_EQ(steps.zero_point, 64);  // of 63.75
  EXPECT_EQ(steps.low, 0);
  EXPECT_EQ(steps.high, 255);
}

TEST(Steps, OfARelu) {
  const Steps steps = *stepsOf({0, 6}, false);
  EXPECT_EQ(steps.zero_point, 0);
  EXPECT_EQ(steps.scale, static_cast<double>(6.0F / 255.0F));
}

TEST(Steps, OfNothingAboveZero) {
  EXPECT_EQ(stepsOf({-2, 0}, false)->zero_point, 254);
}

// Rounding in front of an even zero point and behind it is the same.
TEST(Steps, HaveEvenZeroPointsAndReachOverTheRange) {
  for (const double high : {0.001, 0.4, 1.0, 2.7, 254.0, 1e6}) {
    for (const double low : {-1e-9, -0.0071, -0.3, -1.0, -127.0, -1e5}) {
      const Steps steps = *stepsOf({low, high}, false);
      const auto reach = [&](int64_t step) { return static_cast<double>(step - steps.zero_point) * steps.scale; };
      EXPECT_EQ(steps.zero_point % 2, 0) << low << " to " << high;
      EXPECT_LE(reach(steps.low), low + 1e-6 * -low) << low << " to " << high;
      EXPECT_GE(reach(steps.high), high - 1e-6 * high) << low << " to " << high;
      EXPECT_LE(steps.scale, (high - low) / 253 * 1.000001) << low << " to " << high;
    }
  }
}

TEST(Steps, ReachZeroWhereTheRangeDoesNot) {
  EXPECT_EQ(stepsOf({1, 3}, false)->scale, static_cast<double>(3.0F / 255.0F));
  EXPECT_EQ(stepsOf({1, 3}, false)->zero_point, 0);
  EXPECT_EQ(stepsOf({-3, -1}, false)->zero_point, 254);
}

TEST(Steps, SymmetricOnes) {
  const Steps steps = *stepsOf({-1, 3}, true);
  EXPECT_EQ(steps.to, DType::kInt8);
  EXPECT_EQ(steps.scale, static_cast<double>(3.0F / 127.0F));
  EXPECT_EQ(steps.zero_point, 0);
  EXPECT_EQ(steps.low, -127);
  EXPECT_EQ(steps.high, 127);
}

TEST(Steps, NoneWhereFloat32HasNoScale) {
  EXPECT_EQ(stepsOf({0, 0}, false), std::nullopt);
  EXPECT_EQ(stepsOf({0, 1e-38}, false), std::nullopt);
  EXPECT_EQ(stepsOf({0, 1e300}, false), std::nullopt);
  EXPECT_TRUE(stepsOf({-3.4e38, 3.4e38}, false).has_value());
}

TEST(Steps, RefuseWhatIsNoRange) {
  for (const Range& range : {Range{1, 0}, Range{0, std::nan("")}, Range{-std::numeric_limits<double>::infinity(), 0}}) {
    EXPECT_THROW(stepsOf(range, false), CompileError);
  }
}

}  // namespace
}  // namespace torchtrt::quantization
