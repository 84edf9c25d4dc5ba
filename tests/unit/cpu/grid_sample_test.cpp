#include <gtest/gtest.h>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

// A line of places for one image [1,1,2,2] of 1 2 / 3 4.
Case sample(DType dtype, const Values& grid, const char* mode, const char* padding, bool align_corners) {
  const auto count = static_cast<int64_t>(grid.size() / 2);
  return {"grid_sample",
          makeAttributes(
              {{"mode", std::string(mode)}, {"padding", std::string(padding)}, {"align_corners", align_corners}}),
          {makeTensor(dtype, {1, 1, 2, 2}, {1, 2, 3, 4}), makeTensor(dtype, {1, 1, count, 2}, grid)},
          {{dtype, {1, 1, 1, count}}}};
}

TEST(GridSample, TakesColumnBeforeRow) {
  for (const DType dtype : kFloatingDTypes) {
    const Values corners = {-1, -1, 1, -1, -1, 1, 0, 0};
    expectOutputs(sample(dtype, corners, "linear", "zeros", true), {{1, 2, 3, 2.5}});
    expectOutputs(sample(dtype, {-0.5, -0.5, 0.5, -0.5}, "nearest", "zeros", false), {{1, 2}});
  }
}

TEST(GridSample, OutsideIsZeroTheBorderOrMirrored) {
  const Values places = {-1, -0.5, 2, 0.5};
  expectOutputs(sample(DType::kFloat32, places, "linear", "zeros", false), {{0.5, 0}});
  expectOutputs(sample(DType::kFloat32, places, "linear", "border", false), {{1, 4}});
  expectOutputs(sample(DType::kFloat32, {1.75, 0.5}, "nearest", "reflection", false), {{4}});
  expectOutputs(sample(DType::kFloat32, {1e30, 0}, "linear", "zeros", false), {{0}});
}

TEST(GridSample, CubicKeepsTheElementsThemselves) {
  expectOutputs(sample(DType::kFloat64, {-1, -1, 1, 1}, "cubic", "border", true), {{1, 4}});
}

TEST(GridSample, VolumesAndNothing) {
  const Tensor volume = makeTensor(DType::kFloat32, {1, 1, 2, 1, 1}, {1, 3});
  const Case layer = {"grid_sample",
                      makeAttributes({{"mode", std::string("linear")}, {"padding", std::string("zeros")}}),
                      {volume, makeTensor(DType::kFloat32, {1, 1, 1, 1, 3}, {0, 0, 0})},
                      {{DType::kFloat32, {1, 1, 1, 1, 1}}}};
  expectOutputs(layer, {{2}});
  expectOutputs(sample(DType::kFloat32, {}, "linear", "zeros", false), {{}});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
