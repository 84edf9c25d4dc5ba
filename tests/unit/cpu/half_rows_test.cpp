// Vectors of 16-bit numbers against half.h, value by value.
#include "cpu/storage/half_rows.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/scalar/half.h"

namespace torchtrt::kernels {
namespace {

constexpr int64_t kValues = 0x10000;

uint16_t narrowOne(DType dtype, float value) {
  return dtype == DType::kFloat16 ? toFloat16(value).bits : toBFloat16(value).bits;
}

float widenOne(DType dtype, uint16_t bits) {
  return dtype == DType::kFloat16 ? toFloat(Float16{bits}) : toFloat(BFloat16{bits});
}

class HalfRowsTest : public ::testing::TestWithParam<DType> {
 protected:
  void expectNarrowed(const std::vector<float>& values) const {
    std::vector<uint16_t> narrow(values.size());
    halfRows(GetParam()).narrow(values.data(), narrow.data(), static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) {
        ASSERT_TRUE(std::isnan(widenOne(GetParam(), narrow[i])));
      } else {
        ASSERT_EQ(narrow[i], narrowOne(GetParam(), values[i])) << values[i];
      }
    }
  }
};

TEST_P(HalfRowsTest, EveryValueIsWidenedAndComesBack) {
  std::vector<uint16_t> bits(kValues);
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = static_cast<uint16_t>(i);
  }
  std::vector<float> wide(bits.size());
  halfRows(GetParam()).widen(bits.data(), wide.data(), kValues);
  for (size_t i = 0; i < bits.size(); ++i) {
    const float expected = widenOne(GetParam(), bits[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide[i]));
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(expected)) << i;
    }
  }
  expectNarrowed(wide);
}

TEST_P(HalfRowsTest, RoundsToTheNearestAndTiesToEven) {
  std::vector<float> values;
  for (uint32_t i = 0; i + 1 < kValues; ++i) {
    const float middle = std::midpoint(widenOne(GetParam(), static_cast<uint16_t>(i)),
                                       widenOne(GetParam(), static_cast<uint16_t>(i + 1)));
    values.insert(values.end(), {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, HUGE_VALF)});
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
  constexpr float kMax = std::numeric_limits<float>::max();
  values.insert(values.end(), {0.0F, -0.0F, HUGE_VALF, -HUGE_VALF, kMax, -kMax, 65519.0F, 65520.0F, 1e-45F});
  expectNarrowed(values);
}

TEST_P(HalfRowsTest, RowsOfEveryLengthAndNothingBehindThem) {
  for (int64_t count = 0; count < 70; ++count) {
    std::vector<float> values(static_cast<size_t>(count), 1.5F);
    std::vector<uint16_t> narrow(values.size() + 1, 0x5A5A);
    halfRows(GetParam()).narrow(values.data(), narrow.data(), count);
    EXPECT_EQ(narrow.back(), 0x5A5A);
    std::vector<float> wide(values.size() + 1, 7.0F);
    halfRows(GetParam()).widen(narrow.data(), wide.data(), count);
    EXPECT_EQ(wide.back(), 7.0F);
    wide.pop_back();
    EXPECT_EQ(wide, values);
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, HalfRowsTest, ::testing::Values(DType::kFloat16, DType::kBFloat16),
                         [](const auto& info) { return std::string(toString(info.param)); });

}  // namespace
}  // namespace torchtrt::kernels
