// Conversion between storage and compute types, against formulas that share nothing with it.
#include "cpu/storage/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/scalar/half.h"
#include "kernels/scalar/integer_math.h"

namespace torchtrt::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The value of a 16-bit format by its definition.
double decode(uint16_t bits, int mantissa_bits, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const double mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa == 0 ? sign * kInf : kNan;
  }
  return exponent == 0 ? sign * std::ldexp(mantissa, 1 - bias - mantissa_bits)
                       : sign * std::ldexp(1 + std::ldexp(mantissa, -mantissa_bits), exponent - bias);
}

TEST(Half, EveryValueIsDecodedAndSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const BFloat16 brain{static_cast<uint16_t>(bits)};
    const double half_value = decode(half.bits, 10, 5);
    const double brain_value = decode(brain.bits, 7, 8);
    ASSERT_TRUE(toFloat(half) == half_value || (std::isnan(toFloat(half)) && std::isnan(half_value))) << bits;
    ASSERT_TRUE(toFloat(brain) == brain_value || (std::isnan(toFloat(brain)) && std::isnan(brain_value))) << bits;
    if (!std::isnan(half_value)) {
      ASSERT_EQ(toFloat16(toFloat(half)).bits, half.bits);
    }
    if (!std::isnan(brain_value)) {
      ASSERT_EQ(toBFloat16(toFloat(brain)).bits, brain.bits);
    }
  }
}

TEST(Half, RoundsToTheNearestAndTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {  // between neighbouring finite halves
    const float low = toFloat(Float16{static_cast<uint16_t>(bits)});
    const float high = toFloat(Float16{static_cast<uint16_t>(bits + 1)});
    const float middle = (low + high) / 2;
    const auto even = static_cast<uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(toFloat16(middle).bits, even);
    ASSERT_EQ(toFloat16(std::nextafter(middle, 0.0f)).bits, bits);
    ASSERT_EQ(toFloat16(std::nextafter(middle, 1e9f)).bits, bits + 1);
    ASSERT_EQ(toFloat16(-middle).bits, even | 0x8000);
  }
  EXPECT_EQ(toFloat16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(toFloat16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(toBFloat16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);
  EXPECT_EQ(toBFloat16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);
  EXPECT_EQ(toBFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(toFloat(toFloat16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(toFloat(toBFloat16(std::bit_cast<float>(0x7f800001u)))));
}

template <typename T>
int64_t stored(DType dtype, T value) {
  uint64_t memory = 0;
  Writer<T>(dtype).write(&value, 1, &memory, 0, 1);
  return Reader<int64_t>(dtype).one(&memory, 0);
}

TEST(Convert, FloatingToIntegerIsWhatX86Gives) {
  constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min();
  struct Row {
    double value;
    int64_t int8, uint8, int16, int32, int64;
  };
  const Row rows[] = {{kNan, 0, 0, 0, kMin32, kMin64},    {kInf, 0, 0, 0, kMin32, kMin64},
                      {-kInf, 0, 0, 0, kMin32, kMin64},   {-1.5, -1, 255, -1, -1, -1},
                      {300.7, 44, 44, 300, 300, 300},     {-300.2, -44, 212, -300, -300, -300},
                      {3e9, 0, 0, 0, kMin32, 3000000000}, {-2147483648.0, 0, 0, 0, kMin32, kMin32},
                      {1e19, 0, 0, 0, kMin32, kMin64},    {-129, 127, 127, -129, -129, -129}};
  for (const Row& row : rows) {
    for (const bool as_float : {false, true}) {
      const auto convert = [&](DType dtype) {
        return as_float ? stored(dtype, static_cast<float>(row.value)) : stored(dtype, row.value);
      };
      EXPECT_EQ(convert(DType::kInt8), row.int8) << row.value;
      EXPECT_EQ(convert(DType::kUInt8), row.uint8) << row.value;
      EXPECT_EQ(convert(DType::kInt16), row.int16) << row.value;
      EXPECT_EQ(convert(DType::kInt32), row.int32) << row.value;
      EXPECT_EQ(convert(DType::kInt64), row.int64) << row.value;
      EXPECT_EQ(convert(DType::kBool), 1) << row.value;
    }
  }
  EXPECT_EQ(stored(DType::kBool, -0.0), 0);
}

TEST(Convert, IntegersWrap) {
  EXPECT_EQ(stored(DType::kInt8, int64_t{200}), -56);
  EXPECT_EQ(stored(DType::kUInt8, int64_t{-1}), 255);
  EXPECT_EQ(stored(DType::kInt16, int64_t{65535}), -1);
  EXPECT_EQ(stored(DType::kInt32, int64_t{1} << 32), 0);
  EXPECT_EQ(stored(DType::kBool, int64_t{-7}), 1);
}

TEST(Convert, DoublesReachHalfThroughFloat) {
  const double value = 1 + 0x1p-11 + 0x1p-40;  // above the tie as a double, on it as a float
  uint16_t bits = 0;
  Writer<double>(DType::kFloat16).write(&value, 1, &bits, 0, 1);
  EXPECT_EQ(bits, 0x3c00);
}

TEST(Convert, RunsFollowOffsetsAndSteps) {
  const int16_t memory[] = {0, 1, 2, 3, 4, 5, 6};
  const Reader<float> reader(DType::kInt16);
  float values[3];
  reader.read(memory, 1, 2, 3, values);
  EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{1, 3, 5}));
  reader.read(memory, 6, -3, 3, values);
  EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{6, 3, 0}));
  reader.read(memory, 4, 0, 3, values);
  EXPECT_EQ(std::vector<float>(values, values + 3), (std::vector<float>{4, 4, 4}));
  int8_t out[7] = {};
  Writer<float>(DType::kInt8).write(values, 3, out, 1, 2);
  EXPECT_EQ(std::vector<int>(out, out + 7), (std::vector<int>{0, 4, 0, 4, 0, 4, 0}));
}

TEST(Convert, ViewsGiveTheMemoryItselfOnlyWhereItIsTheRun) {
  const float memory[] = {0, 1, 2, 3};
  float buffer[2];
  const Reader<float> reader(DType::kFloat32);
  EXPECT_EQ(reader.view(memory, 1, 1, 2, buffer), memory + 1);
  EXPECT_EQ(reader.view(memory, 0, 2, 2, buffer), buffer);
  EXPECT_EQ(buffer[1], 2);
  double wide[2];
  EXPECT_EQ(Reader<double>(DType::kFloat32).view(memory, 0, 1, 2, wide), wide);
}

TEST(Convert, CopiesElementsOfEverySize) {
  for (const size_t size : {1, 2, 4, 8}) {
    std::vector<std::byte> source(4 * size), target(4 * size);
    for (size_t i = 0; i < source.size(); ++i) {
      source[i] = static_cast<std::byte>(i + 1);
    }
    copyRun(size, source.data(), 1, target.data(), 1, 4);
    EXPECT_EQ(source, target);
    copyRun(size, source.data() + 3 * size, -1, target.data(), 1, 4);
    EXPECT_EQ(std::memcmp(target.data(), source.data() + 3 * size, size), 0);
    EXPECT_EQ(std::memcmp(target.data() + 3 * size, source.data(), size), 0);
    copyRun(size, source.data(), 0, target.data() + size, 2, 2);
    EXPECT_EQ(std::memcmp(target.data() + size, source.data(), size), 0);
    EXPECT_EQ(std::memcmp(target.data() + 3 * size, source.data(), size), 0);
  }
}

TEST(IntegerMath, DividesLikePython) {
  for (const int64_t a : {-7, -6, -1, 0, 1, 6, 7}) {
    for (const int64_t b : {-3, -2, -1, 1, 2, 3}) {
      const auto quotient = static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
      EXPECT_EQ(floorDivide(a, b), quotient);
      EXPECT_EQ(floorModulo(a, b), a - quotient * b);
      EXPECT_EQ(truncatedDivide(a, b), a / b);
      EXPECT_EQ(truncatedModulo(a, b), a % b);
    }
  }
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(truncatedDivide(kMin, -1), kMin);
  EXPECT_EQ(truncatedModulo(kMin, -1), 0);
  EXPECT_EQ(wrapAdd(std::numeric_limits<int64_t>::max(), 1), kMin);
  EXPECT_THROW(floorDivide(1, 0), EngineError);
  EXPECT_THROW(floorModulo(1, 0), EngineError);
}

TEST(IntegerMath, PowersWrapAndInvert) {
  EXPECT_EQ(integerPower(-3, 3), -27);
  EXPECT_EQ(integerPower(2, 64), 0);
  EXPECT_EQ(integerPower(7, 0), 1);
  EXPECT_EQ(integerPower(0, 0), 1);
  EXPECT_EQ(integerPower(2, -1), 0);
  EXPECT_EQ(integerPower(1, -5), 1);
  EXPECT_EQ(integerPower(-1, -5), -1);
  EXPECT_EQ(integerPower(-1, -4), 1);
  EXPECT_EQ(integerPower(0, -1), 0);
}

}  // namespace
}  // namespace torchtrt::kernels
