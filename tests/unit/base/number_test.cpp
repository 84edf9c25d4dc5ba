// Numbers that stand for dims: clamped where they do not fit, and otherwise as Dim computes.
#include "base/layer_rules/number.h"

#include <gtest/gtest.h>

namespace torchtrt::layer_rules {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(Number, ClampsWhatDoesNotFit) {
  const Number huge = kHuge;
  const Number square = huge * huge;
  EXPECT_EQ(Number::floorDiv(square, huge), huge);
  EXPECT_GT(square, huge);
  EXPECT_EQ(square.clamped(), kHuge);
  EXPECT_EQ((Number(0) - square).clamped(), std::numeric_limits<int64_t>::min());
  const Number most = square * square;
  EXPECT_EQ(most * 3, most);
  EXPECT_EQ(most + most, most);
  EXPECT_EQ(most - (Number(0) - most), most);
  EXPECT_LT(most * Number(-1), Number(0) - square);
  EXPECT_EQ((most * Number(-1)) + (most * Number(-1)), most * Number(-2));
  EXPECT_EQ(most * 0, Number(0));
}

TEST(Number, DividesAsDimDoes) {
  for (int64_t a = -9; a <= 9; ++a) {
    for (int64_t b = 1; b <= 4; ++b) {
      EXPECT_EQ(Number::floorDiv(a, b).clamped(), Dim::floorDiv(a, b).constant()) << a << " by " << b;
      EXPECT_EQ(Number::mod(a, b).clamped(), Dim::mod(a, b).constant()) << a << " by " << b;
    }
  }
}

TEST(Numbers, ReadAsDimsDo) {
  EXPECT_EQ((Numbers{2, -3, kHuge}).toString(), (Dims{2, -3, kHuge}).toString());
  EXPECT_EQ(Numbers().toString(), Dims().toString());
  EXPECT_EQ((Numbers{2, 3, 4}).numel(), Number(24));
  EXPECT_EQ(Numbers().numel(), Number(1));
  EXPECT_NE((Numbers{2, 3}), (Numbers{2, 3, 1}));
}

}  // namespace
}  // namespace torchtrt::layer_rules
