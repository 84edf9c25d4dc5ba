#include "cuda/limits/limits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cuda/device_call.h"

namespace torchtrt::cuda {
namespace {

TEST(Limits, AreMeasuredByTheDevicesTimer) {
  const kernels::Limits limits = kernels::backendOf(&testing::gpu()).measureLimits(testing::gpu(), 1);
  if (testing::gpu().properties().name == "emulated GPU") {  // whose timer says a millisecond of everything
    EXPECT_DOUBLE_EQ(limits.bytes, 2 * 268435456.0 / 1e-3);
    EXPECT_DOUBLE_EQ(limits.flops, 2 * 16.0 * 8 * 132 * 256 / 1e-3);
    EXPECT_DOUBLE_EQ(limits.tensor_flops, 2 * 128.0 * 128 * 128 / 1e-3);
  } else {
    EXPECT_GT(limits.bytes, 1e11);
    EXPECT_GT(limits.flops, 1e12);
    EXPECT_GT(limits.tensor_flops, limits.flops);
  }
}

}  // namespace
}  // namespace torchtrt::cuda
