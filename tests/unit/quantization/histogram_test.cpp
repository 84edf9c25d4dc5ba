#include "quantization/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace torchtrt::quantization {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Histogram of(const std::vector<float>& values) {
  Histogram histogram;
  histogram.add(values.data(), values.size());
  return histogram;
}

uint64_t held(const Histogram& histogram, int bin) {
  return histogram.bins()[static_cast<size_t>(Histogram::kHalf + bin)];
}

TEST(Histogram, CountsInBinsAroundZero) {
  // The power of two above 3 is 4: bins are 4 / 2048 wide.
  const Histogram histogram = of({0, 3, -1, 1.0F / 512, 1.5F / 512, -0.5F / 512, 0});
  EXPECT_EQ(histogram.width(), 1.0 / 512);
  EXPECT_EQ(histogram.count(), 7U);
  EXPECT_EQ(histogram.zeros(), 2U);
  EXPECT_EQ(histogram.min(), -1);
  EXPECT_EQ(histogram.max(), 3);
  EXPECT_EQ(held(histogram, 0), 2U);
  EXPECT_EQ(held(histogram, 1), 2U);
  EXPECT_EQ(held(histogram, -1), 1U);
  EXPECT_EQ(held(histogram, 3 * 512), 1U);
  EXPECT_EQ(held(histogram, -512), 1U);
}

TEST(Histogram, DoublesItsRangeForGreaterValues) {
  Histogram histogram = of({1, -1.5F});
  EXPECT_EQ(histogram.width(), 2.0 / 2048);
  const float greater = -13;
  histogram.add(&greater, 1);
  EXPECT_EQ(histogram.width(), 16.0 / 2048);
  EXPECT_EQ(held(histogram, 128), 1U);
  EXPECT_EQ(held(histogram, -192), 1U);
  EXPECT_EQ(held(histogram, -13 * 128), 1U);
}

TEST(Histogram, HoldsAPowerOfTwoAtItsEnds) {
  const Histogram histogram = of({4, -4});
  EXPECT_EQ(histogram.width(), 8.0 / 2048);
  EXPECT_EQ(held(histogram, 1024), 1U);
  EXPECT_EQ(held(histogram, -1024), 1U);
}

TEST(Histogram, DoesNotDependOnTheOrder) {
  std::mt19937 random(7);
  std::vector<float> values;
  for (int i = 0; i < 10000; ++i) {
    values.push_back(
        std::ldexp(static_cast<float>(static_cast<int>(random() % 2001) - 1000), static_cast<int>(random() % 12)));
  }
  const Histogram forward = of(values);
  Histogram backward;
  for (size_t i = values.size(); i-- > 0;) {
    backward.add(&values[i], 1);
  }
  EXPECT_EQ(forward.bins(), backward.bins());
  EXPECT_EQ(forward.width(), backward.width());
  EXPECT_EQ(forward.zeros(), backward.zeros());
}

TEST(Histogram, LeavesOutWhatIsNotFinite) {
  const Histogram histogram = of({kNaN, kInfinity, 1, -kInfinity, 0});
  EXPECT_EQ(histogram.count(), 2U);
  EXPECT_EQ(histogram.zeros(), 1U);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 1);
  EXPECT_EQ(held(histogram, 0), 1U);
  EXPECT_EQ(held(histogram, 1024), 1U);
}

TEST(Histogram, OfNothingButZeros) {
  EXPECT_TRUE(Histogram().isEmpty());
  EXPECT_TRUE(of({0, -0.0F, kNaN, kInfinity}).isEmpty());
  // Zeros that came before the first value are counted.
  Histogram histogram = of({0, 0});
  const float value = 1;
  histogram.add(&value, 1);
  EXPECT_EQ(held(histogram, 0), 2U);
}

TEST(Histogram, TakesTheSmallestAndTheGreatestFloats) {
  const float least = std::numeric_limits<float>::denorm_min();
  Histogram histogram = of({least});
  EXPECT_EQ(held(histogram, 1024), 1U);
  const float greatest = std::numeric_limits<float>::max();
  histogram.add(&greatest, 1);
  EXPECT_EQ(held(histogram, 0), 1U);
  EXPECT_EQ(held(histogram, 2047), 1U);
}

}  // namespace
}  // namespace torchtrt::quantization
