#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case scatter(const char* mode, Tensor data, Tensor indices, Tensor updates, int64_t axis, const char* reduce = "none",
             bool include_self = true) {
  const Output output = {data.desc.dtype, data.desc.dims};
  return {"scatter",
          makeAttributes({{"mode", std::string(mode)},
                          {"axis", axis},
                          {"reduce", std::string(reduce)},
                          {"include_self", include_self}}),
          {std::move(data), std::move(indices), std::move(updates)},
          {output}};
}

Tensor places(const Ints& dims, const Values& values) {
  return makeTensor(DType::kInt64, dims, values);
}

TEST(Scatter, WritesSlicesOfEveryDType) {
  for (const DType dtype : kAllDTypes) {
    const Tensor data = makeTensor(dtype, {3, 2}, {0, 1, 1, 0, 0, 0});
    const Tensor updates = makeTensor(dtype, {2, 2}, {1, 1, 0, 1});
    expectOutputs(scatter("default", data, places({2}, {2, -3}), updates, 0), {{0, 1, 1, 0, 1, 1}});
  }
}

// One index after the other, the last of equals wins: more of them than are read at once, for few and many elements.
TEST(Scatter, WritesManySlicesInOrder) {
  constexpr int64_t kSlices = 1300;
  constexpr int64_t kSize = 400;
  for (const DType dtype : {DType::kInt8, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const int64_t width : {1, 3, 8, 9, 40}) {
      for (const DType index : {DType::kInt32, DType::kInt64}) {
        Values data = iota(kSize * width), updates = iota(kSlices * width), indices = iota(kSlices);
        for (Values* values : {&data, &updates}) {
          for (double& value : *values) {
            value = std::fmod(value, 103);
          }
        }
        for (double& value : indices) {
          value = std::fmod(value * 37, 2 * kSize) - kSize;
        }
        Values along_rows = data;
        for (int64_t k = 0; k < kSlices; ++k) {
          const auto at = static_cast<int64_t>(indices[static_cast<size_t>(k)]);
          for (int64_t i = 0; i < width; ++i) {
            along_rows[static_cast<size_t>((at < 0 ? at + kSize : at) * width + i)] =
                updates[static_cast<size_t>(k * width + i)];
          }
        }
        const auto turned = [&](const Values& values, int64_t rows) {
          Values result;
          for (int64_t i = 0; i < width; ++i) {
            for (int64_t k = 0; k < rows; ++k) {
              result.push_back(values[static_cast<size_t>(k * width + i)]);
            }
          }
          return result;
        };
        const Tensor given = makeTensor(index, {kSlices}, indices);
        expectOutputs(scatter("default", makeTensor(dtype, {kSize, width}, data), given,
                              makeTensor(dtype, {kSlices, width}, updates), 0),
                      {along_rows});
        expectOutputs(scatter("default", makeTensor(dtype, {width, kSize}, turned(data, kSize)), given,
                              makeTensor(dtype, {width, kSlices}, turned(updates, kSlices)), 1),
                      {turned(along_rows, kSize)});
      }
    }
  }
}

TEST(Scatter, WritesElementsInOrder) {
  const Tensor data = makeTensor(DType::kFloat32, {2, 3}, iota(6));
  const Tensor updates = makeTensor(DType::kFloat32, {2, 2}, {7, 8, 9, 10});
  for (const DType index : {DType::kInt32, DType::kInt64}) {
    const Tensor indices = makeTensor(index, {2, 2}, {0, 0, -1, 1});
    expectOutputs(scatter("element", data, indices, updates, 1), {{8, 1, 2, 3, 10, 9}});
    expectOutputs(scatter("element", data, indices, updates, 0), {{7, 8, 2, 9, 10, 5}});
  }
}

TEST(Scatter, Folds) {
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) {
      continue;
    }
    const Tensor data = makeTensor(dtype, {3}, {5, 2, 3});
    const Tensor updates = makeTensor(dtype, {3}, {4, 6, 7});
    const Tensor indices = places({3}, {0, 0, 2});
    expectOutputs(scatter("element", data, indices, updates, 0, "sum"), {{15, 2, 10}});
    expectOutputs(scatter("element", data, indices, updates, 0, "max"), {{6, 2, 7}});
    expectOutputs(scatter("element", data, indices, updates, 0, "min"), {{4, 2, 3}});
    expectOutputs(scatter("element", data, indices, updates, 0, "sum", false), {{10, 2, 7}});
    expectOutputs(scatter("default", data, indices, updates, 0, "prod", false), {{24, 2, 7}});
    expectOutputs(scatter("default", data, indices, updates, 0, "max", false), {{6, 2, 7}});
    expectOutputs(scatter("default", data, indices, updates, 0, "min", false), {{4, 2, 7}});
  }
}

TEST(Scatter, NanWins) {
  const Tensor data = makeTensor(DType::kFloat32, {2}, {1, kNan});
  const Tensor updates = makeTensor(DType::kFloat32, {2}, {kNan, 5});
  expectOutputs(scatter("element", data, places({2}, {0, 1}), updates, 0, "max"), {{kNan, kNan}});
}

TEST(Scatter, NothingAndPlacesOutside) {
  const Tensor data = makeTensor(DType::kFloat32, {2}, {1, 2});
  expectOutputs(scatter("default", data, places({0}, {}), makeTensor(DType::kFloat32, {0}, {}), 0), {{1, 2}});
  for (const double index : {2.0, -3.0}) {
    const Tensor updates = makeTensor(DType::kFloat32, {1}, {9});
    EXPECT_THROW(run(scatter("default", data, places({1}, {index}), updates, 0)), EngineError);
    EXPECT_THROW(run(scatter("element", data, places({1}, {index}), updates, 0)), EngineError);
  }
}

TEST(Scatter, RefusesNegativeIndicesWhereToldTo) {
  const Tensor data = makeTensor(DType::kFloat32, {2}, {1, 2});
  const Tensor updates = makeTensor(DType::kFloat32, {1}, {9});
  for (const char* mode : {"default", "element"}) {
    Case strict = scatter(mode, data, places({1}, {-1}), updates, 0);
    expectOutputs(strict, {{1, 9}});
    strict.attributes.set("negative", false);
    EXPECT_THROW(run(strict), EngineError);
    strict.inputs[1] = places({1}, {1});
    expectOutputs(strict, {{1, 9}});
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
