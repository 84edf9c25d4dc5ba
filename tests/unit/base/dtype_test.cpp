#include <gtest/gtest.h>

#include <array>

#include "torchtrt/error.h"
#include "torchtrt/types.h"

namespace torchtrt {
namespace {

// torch.promote_types of every pair, in the order of the numbers, written as kFloat32 = f, kFloat64 = d, kFloat16 = h,
// kBFloat16 = b, kInt8 = c, kInt32 = i, kInt64 = l, kUInt8 = u, kBool = t, kInt16 = s.
constexpr std::string_view kLetters = "fdhbciluts";
constexpr std::array<std::string_view, kDTypeCount> kPromoted = {"fdffffffff", "dddddddddd", "fdhfhhhhhh", "fdfbbbbbbb",
                                                                 "fdhbcilscs", "fdhbiiliii", "fdhbllllll", "fdhbsiluus",
                                                                 "fdhbciluts", "fdhbsilsss"};

TEST(DType, PromotesAsPyTorchDoes) {
  for (size_t a = 0; a < kDTypeCount; ++a) {
    for (size_t b = 0; b < kDTypeCount; ++b) {
      const auto expected = static_cast<DType>(kLetters.find(kPromoted[a][b]));
      EXPECT_EQ(promoteTypes(static_cast<DType>(a), static_cast<DType>(b)), expected)
          << toString(static_cast<DType>(a)) << " and " << toString(static_cast<DType>(b));
    }
  }
}

TEST(DType, NamesReadBack) {
  for (size_t i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parseDType(toString(dtype)), dtype);
  }
  EXPECT_FALSE(parseDType("float").has_value());
  EXPECT_FALSE(parseDType("").has_value());
  EXPECT_THROW(toString(static_cast<DType>(kDTypeCount)), InternalError);
}

TEST(DType, HasSizeAndCategory) {
  EXPECT_EQ(sizeOf(DType::kFloat64), 8u);
  EXPECT_EQ(sizeOf(DType::kBFloat16), 2u);
  EXPECT_EQ(sizeOf(DType::kBool), 1u);
  EXPECT_TRUE(isFloating(DType::kFloat16));
  EXPECT_FALSE(isFloating(DType::kInt64));
  EXPECT_TRUE(isIntegral(DType::kUInt8));
  EXPECT_FALSE(isIntegral(DType::kBool));
  EXPECT_TRUE(isIntegral(DType::kBool, true));
  EXPECT_FALSE(isIntegral(DType::kFloat32, true));
}

}  // namespace
}  // namespace torchtrt
