#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case softmax(DType dtype, const Ints& dims, const Values& in, int64_t axis, bool log) {
  return {"softmax", makeAttributes({{"axis", axis}, {"log", log}}), {makeTensor(dtype, dims, in)}, {{dtype, dims}}};
}

TEST(Softmax, NormalisesAlongAnyAxis) {
  const double two_thirds = 2 / 3.0, third = 1 / 3.0, log2 = std::log(2.0);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    expectOutputs(softmax(dtype, {2, 2}, {0, log2, log2, 0}, 1, false), {{third, two_thirds, two_thirds, third}}, 1e-6);
    expectOutputs(softmax(dtype, {2, 2}, {0, log2, 0, 0}, 0, false), {{0.5, two_thirds, 0.5, third}}, 1e-6);
    expectOutputs(softmax(dtype, {1, 2}, {0, log2}, 1, true), {{-std::log(3.0), log2 - std::log(3.0)}}, 1e-6);
  }
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    expectOutputs(softmax(dtype, {2, 4, 1}, Values(8, 3), 1, false), {Values(8, 0.25)});
  }
}

TEST(Softmax, SumsToOneInLongRows) {
  const Values in = mixedValues(3 * 2000, DType::kFloat32);
  const Case layer = softmax(DType::kFloat32, {3, 2000}, in, 1, false);
  const Values out = runOne(layer);
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0, terms = 0;
    for (size_t i = row * 2000; i < (row + 1) * 2000; ++i) {
      sum += out[i];
      terms += std::exp(in[i]);
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(out[row * 2000], std::exp(in[row * 2000]) / terms, 1e-9);
  }
  expectOutputs(layer, {out});
}

TEST(Softmax, IsStableForLargeValues) {
  expectOutputs(softmax(DType::kFloat32, {3}, {1000, 1000, -1000}, 0, false), {{0.5, 0.5, 0}});
  expectOutputs(softmax(DType::kFloat32, {2}, {1000, -1000}, 0, true), {{0, -2000}});
}

TEST(Softmax, InfinitiesAndNan) {
  expectOutputs(softmax(DType::kFloat32, {2}, {-kInf, 0}, 0, false), {{0, 1}});
  expectOutputs(softmax(DType::kFloat32, {2}, {-kInf, 0}, 0, true), {{-kInf, 0}});
  expectOutputs(softmax(DType::kFloat32, {2}, {-kInf, -kInf}, 0, false), {{kNan, kNan}});
  expectOutputs(softmax(DType::kFloat32, {2, 2}, {kNan, 0, 0, 0}, 1, false), {{kNan, kNan, 0.5, 0.5}});
}

TEST(Softmax, ScalarsAndEmptyTensors) {
  expectOutputs(softmax(DType::kFloat32, {}, {7}, 0, false), {{1}});
  expectOutputs(softmax(DType::kFloat32, {}, {7}, 0, true), {{0}});
  expectOutputs(softmax(DType::kFloat32, {2, 0}, {}, 1, false), {{}});
  expectOutputs(softmax(DType::kFloat32, {0, 2}, {}, 1, false), {{}});
}

TEST(Softmax, RefusesIntegers) {
  EXPECT_THROW(run(softmax(DType::kInt32, {2}, {0, 1}, 0, false)), InternalError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
