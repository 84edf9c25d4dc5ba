// The plugin for antialiased resizing against numbers made by hand, in any layout; tests/python compares it with
// PyTorch.
#include <gtest/gtest.h>

#include "cpu/antialiased_resize.h"

namespace torchtrt::kernels::testing {
namespace {

TEST(AntialiasedResize, EveryElementCounts) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kUInt8}) {
    // Weights 3/7, 3/7, 1/7 and 1/7, 3/7, 3/7.
    expectOutputs(antialiased("linear", dtype, {1, 1, 1, 4}, {7, 14, 21, 28}, {1, 2}), {{12, 23}});
    expectOutputs(antialiased("linear", dtype, {1, 1, 4, 1}, {7, 14, 21, 28}, {2, 1}), {{12, 23}});
    // A scale factor of 1 between sizes: no wider than its neighbours.
    expectOutputs(antialiased("linear", dtype, {1, 1, 1, 4}, {7, 14, 21, 28}, {1, 2}, {0, 1}), {{7, 14}});
    expectOutputs(antialiased("cubic", dtype, {1, 1, 2, 3}, {5, 5, 5, 5, 5, 5}, {3, 2}), {{5, 5, 5, 5, 5, 5}});
  }
}

TEST(AntialiasedResize, BytesAreRoundedPerAxis) {
  expectOutputs(antialiased("linear", DType::kUInt8, {1, 1, 2, 2}, {1, 2, 2, 3}, {1, 1}), {{3}});
  // Weights that are negative: below 0 and above 255 is cut.
  expectOutputs(antialiased("cubic", DType::kUInt8, {1, 1, 1, 4}, {0, 255, 255, 0}, {1, 8}),
                {{0, 48, 199, 255, 255, 199, 48, 0}});
}

// Blocks of lines hold those of several planes, and the last is not full.
TEST(AntialiasedResize, PlanesDoNotTouch) {
  const Ints size = {17, 70};
  const int64_t in = 21 * 37, out = size[0] * size[1];
  for (const char* mode : {"linear", "cubic"}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kUInt8}) {
      Values all;
      Values expected;
      for (uint32_t plane = 0; plane < 4; ++plane) {
        Values values = mixedValues(in, dtype, plane + 1);
        const Values one = runOne(antialiased(mode, dtype, {1, 1, 21, 37}, values, size));
        ASSERT_EQ(one.size(), static_cast<size_t>(out));
        all.insert(all.end(), values.begin(), values.end());
        expected.insert(expected.end(), one.begin(), one.end());
      }
      expectOutputs(antialiased(mode, dtype, {2, 2, 21, 37}, all, size), {expected});
    }
  }
}

TEST(AntialiasedResize, FieldsThatItDoesNotTake) {
  const auto refused = [](const Case& layer) {
    try {
      run(layer);
      return false;
    } catch (const EngineError& error) {
      return error.code() == ErrorCode::kPlugin;
    }
  };
  const Values four = {1, 2, 3, 4};
  EXPECT_FALSE(refused(antialiased("linear", DType::kFloat32, {1, 1, 2, 2}, four, {1, 1})));
  EXPECT_TRUE(refused(antialiased("nearest", DType::kFloat32, {1, 1, 2, 2}, four, {1, 1})));
  EXPECT_TRUE(refused(antialiased("linear", DType::kInt32, {1, 1, 2, 2}, four, {1, 1})));
  EXPECT_TRUE(refused(antialiased("linear", DType::kFloat32, {1, 1, 2, 2}, four, {0, 1})));
  EXPECT_TRUE(refused(antialiased("linear", DType::kFloat32, {1, 1, 2, 2}, four, {1, 1}, {-1, 0})));
  EXPECT_TRUE(refused(antialiased("linear", DType::kFloat32, {1, 1, 2, 2}, four, {1, 1}, {1e-300, 0})));
  EXPECT_TRUE(refused(antialiased("linear", DType::kFloat32, {1, 4, 0, 2}, {}, {1, 1})));
}

}  // namespace
}  // namespace torchtrt::kernels::testing
