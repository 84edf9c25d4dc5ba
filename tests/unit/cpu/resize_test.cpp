#include <gtest/gtest.h>

#include <limits>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

Case resize(const std::string& mode, Tensor in, const Ints& size, bool align_corners = false,
            const std::vector<double>& scales = {}) {
  const DType dtype = in.desc.dtype;
  Ints out = in.desc.dims;
  std::copy_backward(size.begin(), size.end(), out.end());
  return {"resize",
          makeAttributes({{"mode", mode}, {"align_corners", align_corners}, {"scales", scales}}),
          {std::move(in)},
          {{dtype, out}},
          {{"size", size}}};
}

TEST(Resize, NearestForEveryType) {
  for (const DType dtype : kAllDTypes) {
    const Values in = dtype == DType::kBool ? Values{0, 1, 1} : Values{1, 2, 3};
    expectOutputs(resize("nearest", makeTensor(dtype, {1, 1, 3}, in), {6}),
                  {{in[0], in[0], in[1], in[1], in[2], in[2]}});
    expectOutputs(resize("nearest", makeTensor(dtype, {1, 1, 3}, in), {2}), {{in[0], in[1]}});
    expectOutputs(resize("nearest_exact", makeTensor(dtype, {1, 1, 3}, in), {2}), {{in[0], in[2]}});
  }
}

TEST(Resize, NearestInTwoAndThreeDims) {
  expectOutputs(resize("nearest", makeTensor(DType::kInt32, {1, 2, 2}, {1, 2, 3, 4}), {4, 2}),
                {{1, 2, 1, 2, 3, 4, 3, 4}});
  expectOutputs(resize("nearest", makeTensor(DType::kInt32, {1, 1, 2, 1, 2}, {1, 2, 3, 4}), {2, 2, 1}), {{1, 1, 3, 3}});
}

TEST(Resize, LinearTakesPixelCentres) {
  for (const DType dtype : kFloatingDTypes) {
    // Positions -0.25 (clamped to 0), 0.25, 0.75, 1.25 (clamped to the last).
    expectOutputs(resize("linear", makeTensor(dtype, {1, 1, 2}, {0, 4}), {4}), {{0, 1, 3, 4}});
    expectOutputs(resize("linear", makeTensor(dtype, {1, 1, 4}, {0, 4, 8, 16}), {2}), {{2, 12}});
    expectOutputs(resize("linear", makeTensor(dtype, {1, 1, 2}, {0, 3}), {4}, true), {{0, 1, 2, 3}});
  }
  expectOutputs(resize("linear", makeTensor(DType::kFloat64, {1, 1, 3}, {5, 6, 7}), {1}, true), {{5}});
}

TEST(Resize, LinearIsSeparable) {
  expectOutputs(resize("linear", makeTensor(DType::kFloat64, {1, 1, 2, 2}, {0, 4, 8, 12}), {2, 4}),
                {{0, 1, 3, 4, 8, 9, 11, 12}});
  expectOutputs(resize("linear", makeTensor(DType::kFloat64, {1, 1, 2, 2, 2}, iota(8)), {1, 1, 1}), {{3.5}});
}

TEST(Resize, ScalesReplaceTheRatioOfSizes) {
  // A scale of 1.5 on 3 elements gives 4: steps of 2/3 instead of 3/4.
  const Tensor in = makeTensor(DType::kFloat64, {1, 1, 3}, {0, 3, 6});
  expectOutputs(resize("linear", in, {4}, true), {{0, 2, 4, 6}});
  expectOutputs(resize("linear", in, {4}, false, {1.5}), {{0, 1.5, 3.5, 5.5}}, 1e-7);
  expectOutputs(resize("nearest", in, {4}, false, {1.5}), {{0, 0, 3, 6}});
}

TEST(Resize, CubicReproducesLinesAndItsWeights) {
  // The cubic with a = -0.75 has weights -9/96, 57/96 at the half-way point.
  const Tensor impulse = makeTensor(DType::kFloat64, {1, 1, 1, 4}, {0, 1, 0, 0});
  expectOutputs(resize("cubic", impulse, {1, 2}), {{0.59375, -0.09375}}, 1e-12);
  const Values line = iota(8);
  const Values out = runOne(resize("cubic", makeTensor(DType::kFloat64, {1, 1, 1, 8}, line), {1, 15}, true));
  for (size_t i = 3; i < 12; ++i) {
    EXPECT_NEAR(out[i], static_cast<double>(i) / 2, 1e-12);
  }
}

TEST(Resize, BytesAreRoundedPerAxis) {
  // Width first: (1+2)/2 and (2+3)/2 round up to 2 and 3; their mean rounds up to 3.
  expectOutputs(resize("linear", makeTensor(DType::kUInt8, {1, 1, 2, 2}, {1, 2, 2, 3}), {1, 1}), {{3}});
  expectOutputs(resize("cubic", makeTensor(DType::kUInt8, {1, 1, 1, 4}, {0, 255, 0, 0}), {1, 2}), {{151, 0}});
}

// PyTorch asks no scale factor there in two dimensions; in one and three it does.
TEST(Resize, NearestOfTwiceTheSizeIsEachElementTwice) {
  const Tensor image = makeTensor(DType::kInt32, {1, 2, 1}, {1, 2});
  expectOutputs(resize("nearest", image, {4, 1}, false, {2.3, 1}), {{1, 1, 2, 2}});
  const Tensor line = makeTensor(DType::kInt32, {1, 2}, {1, 2});
  expectOutputs(resize("nearest", line, {4}, false, {2.3}), {{1, 1, 1, 2}});
}

TEST(Resize, AnInfinityStaysInItsColumnWhereTheWidthIsEqual) {
  const double inf = std::numeric_limits<double>::infinity();
  expectOutputs(resize("linear", makeTensor(DType::kFloat32, {1, 1, 1, 3}, {inf, 2, 3}), {2, 3}),
                {{std::numeric_limits<double>::quiet_NaN(), 2, 3, std::numeric_limits<double>::quiet_NaN(), 2, 3}});
}

TEST(Resize, EqualSizesCopy) {
  for (const char* mode : {"nearest", "nearest_exact", "linear", "cubic"}) {
    const Values in = mixedValues(12, DType::kFloat32);
    expectOutputs(resize(mode, makeTensor(DType::kFloat32, {1, 1, 3, 4}, in), {3, 4}), {in});
  }
}

TEST(Resize, EmptyTensors) {
  expectOutputs(resize("linear", makeTensor(DType::kFloat32, {0, 2, 3}, {}), {6}), {{}});
  EXPECT_THROW(run(resize("nearest", makeTensor(DType::kFloat32, {1, 1, 0}, {}), {2})), EngineError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
