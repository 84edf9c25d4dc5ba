#include "base/edit_distance.h"

#include <gtest/gtest.h>

namespace torchtrt {
namespace {

TEST(EditDistance, CountsInsertionsRemovalsAndReplacements) {
  EXPECT_EQ(editDistance("block", "block"), 0u);
  EXPECT_EQ(editDistance("blok", "block"), 1u);
  EXPECT_EQ(editDistance("block", "blok"), 1u);
  EXPECT_EQ(editDistance("black", "block"), 1u);
  EXPECT_EQ(editDistance("", "block"), 5u);
  EXPECT_EQ(editDistance("block", ""), 5u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

}  // namespace
}  // namespace torchtrt
