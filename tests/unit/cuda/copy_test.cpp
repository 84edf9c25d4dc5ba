// Copies between layouts: which walks go in 32 bits, and that both kinds find the same elements.
#include <gtest/gtest.h>

#include <cstdint>

#include "cuda/against_reference.h"
#include "cuda/launch/layout.h"

namespace torchtrt::cuda::testing {
namespace {

TEST(ShortWalk, TakesWhatLiesWithin31Bits) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  EXPECT_TRUE(isShort({}, {}));
  EXPECT_TRUE(isShort({32, 14, 3}, {150528, -16, 1}));
  EXPECT_TRUE(isShort({kLimit - 2}, {1}));
  EXPECT_FALSE(isShort({kLimit}, {0}));
  EXPECT_FALSE(isShort({2, 3}, {kLimit / 2, 1}));
  EXPECT_FALSE(isShort({2, 3}, {-kLimit, 1}));
  EXPECT_FALSE(isShort({int64_t{1} << 40, int64_t{1} << 40}, {int64_t{1} << 40, 1}));
}

}  // namespace
}  // namespace torchtrt::cuda::testing
