#include <gtest/gtest.h>

#include <limits>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case topK(Tensor in, int64_t axis, int64_t k, bool largest = true) {
  Ints out = in.desc.dims;
  if (!out.empty()) {
    out[static_cast<size_t>(axis)] = k;
  }
  const DType dtype = in.desc.dtype;
  return {"topk",
          makeAttributes({{"axis", axis}, {"largest", largest}}),
          {std::move(in)},
          {{dtype, out}, {DType::kInt64, out}},
          {{"k", {k}}}};
}

TEST(TopK, SortsAndBreaksTiesByPosition) {
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) {
      continue;
    }
    const Tensor in = makeTensor(dtype, {5}, {3, 1, 4, 1, 3});
    expectOutputs(topK(in, 0, 4), {{4, 3, 3, 1}, {2, 0, 4, 1}});
    expectOutputs(topK(in, 0, 3, false), {{1, 1, 3}, {1, 3, 0}});
  }
}

TEST(TopK, AlongAnyAxis) {
  const Tensor in = makeTensor(DType::kFloat32, {2, 3}, {1, 5, 3, 4, 2, 6});
  expectOutputs(topK(in, 0, 1), {{4, 5, 6}, {1, 0, 1}});
  expectOutputs(topK(in, 1, 2), {{5, 3, 6, 4}, {1, 2, 2, 0}});
}

TEST(TopK, NanIsGreatest) {
  for (const DType dtype : kFloatingDTypes) {
    const Tensor in = makeTensor(dtype, {4}, {1, kNan, 3, kNan});
    expectOutputs(topK(in, 0, 3), {{kNan, kNan, 3}, {1, 3, 2}});
    expectOutputs(topK(in, 0, 3, false), {{1, 3, kNan}, {0, 2, 1}});
  }
}

TEST(TopK, ScalarsNothingAndTooMuch) {
  expectOutputs(topK(makeTensor(DType::kInt32, {}, {7}), 0, 1), {{7}, {0}});
  expectOutputs(topK(makeTensor(DType::kInt32, {3}, {1, 2, 3}), 0, 0), {{}, {}});
  expectOutputs(topK(makeTensor(DType::kInt32, {0, 3}, {}), 1, 2), {{}, {}});
  EXPECT_THROW(run(topK(makeTensor(DType::kInt32, {3}, {1, 2, 3}), 0, 4)), EngineError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
