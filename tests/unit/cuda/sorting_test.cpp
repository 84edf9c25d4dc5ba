// Orders that take several tiles, and folds that need one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "cuda/against_reference.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case topK(Tensor in, int64_t axis, int64_t k, bool largest) {
  Ints out = in.desc.dims;
  out[static_cast<size_t>(axis)] = k;
  const DType dtype = in.desc.dtype;
  return {"topk",
          makeAttributes({{"axis", axis}, {"largest", largest}}),
          {std::move(in)},
          {{dtype, out}, {DType::kInt64, out}},
          {{"k", {k}}}};
}

// Few different values, so that equal ones lie in different tiles.
Values repeating(int64_t count, int64_t different) {
  Values values = iota(count);
  for (double& value : values) {
    value = std::fmod(value * 7919, static_cast<double>(different)) - static_cast<double>(different / 2);
  }
  return values;
}

TEST(Sorting, LongRowsByTilesAndWhole) {
  for (const int64_t k : {1, 2, 60, 512, 513, 2500}) {
    expectBitsAsOnCpu(topK(makeTensor(DType::kFloat32, {2, 2500}, repeating(5000, 613)), 1, k, k % 2 == 0));
  }
}

TEST(Sorting, EveryDTypeAndShortRows) {
  for (const DType dtype : kAllDTypes) {
    const Values values = dtype == DType::kBool ? mixedValues(3 * 70, dtype) : repeating(3 * 70, 100);
    Values stored = values;
    for (double& value : stored) {
      value = dtype == DType::kUInt8 ? value + 50 : value;
    }
    for (const bool largest : {true, false}) {
      expectAsOnCpu(topK(makeTensor(dtype, {70, 3}, stored), 0, 70, largest));
      expectAsOnCpu(topK(makeTensor(dtype, {3, 70}, stored), 1, 1, largest));
    }
  }
}

TEST(Sorting, NumbersThatAreNoneAndZerosOfBothSigns) {
  Values values = repeating(1100, 9);
  values[3] = values[1050] = kNan;
  values[5] = -0.0;
  values[1024] = std::numeric_limits<double>::infinity();
  for (const bool largest : {true, false}) {
    for (const int64_t k : {1, 40, 1100}) {
      expectBitsAsOnCpu(topK(makeTensor(DType::kFloat64, {1100}, values), 0, k, largest));
    }
  }
}

Case scatter(const char* mode, Tensor data, Tensor indices, Tensor updates, int64_t axis, const char* reduce,
             bool include_self) {
  const Output output = {data.desc.dtype, data.desc.dims};
  return {"scatter",
          makeAttributes({{"mode", std::string(mode)},
                          {"axis", axis},
                          {"reduce", std::string(reduce)},
                          {"include_self", include_self}}),
          {std::move(data), std::move(indices), std::move(updates)},
          {output}};
}

// So many updates that they are sorted by place, with roundings that show their order.
TEST(Scatters, ManyUpdatesAreFoldedInTheirOrder) {
  constexpr int64_t kUpdates = 1500;
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kInt8}) {
    Values updates = mixedValues(2 * kUpdates, dtype);
    for (size_t i = 0; dtype != DType::kInt8 && i < updates.size(); ++i) {
      updates[i] *= i % 5 == 0 ? 64 : 0.0625;
    }
    Values indices = repeating(2 * kUpdates, 40);
    for (double& index : indices) {
      index += 20;
    }
    const Tensor data = makeTensor(dtype, {2, 40}, mixedValues(80, dtype, 3));
    const Tensor elements = makeTensor(DType::kInt64, {2, kUpdates}, indices);
    const Tensor rows = makeTensor(DType::kInt32, {kUpdates}, {indices.begin(), indices.begin() + kUpdates});
    const Tensor given = makeTensor(dtype, {2, kUpdates}, updates);
    for (const char* reduce : {"none", "sum", "max", "min"}) {
      expectBitsAsOnCpu(scatter("element", data, elements, given, 1, reduce, true));
      expectBitsAsOnCpu(scatter("default", data, rows, given, 1, reduce, false));
    }
  }
}

TEST(Scatters, UpdatesOfPartOfTheLines) {
  const Tensor data = makeTensor(DType::kFloat32, {4, 30, 3}, iota(360));
  const Tensor indices = makeTensor(DType::kInt64, {2, 25, 2}, [] {
    Values values = iota(100);
    for (double& value : values) {
      value = std::fmod(value * 11, 30);
    }
    return values;
  }());
  const Tensor updates = makeTensor(DType::kFloat32, {2, 25, 2}, mixedValues(100, DType::kFloat32));
  for (const char* reduce : {"none", "sum", "prod"}) {
    expectAsOnCpu(scatter("element", data, indices, updates, 1, reduce, true), 0);
  }
}

Case cumulative(const char* op, Tensor in, int64_t axis) {
  const DType dtype = in.desc.dtype;
  const Ints dims = in.desc.dims;
  std::vector<Output> outputs = {{dtype, dims}};
  if (std::string(op) == "max" || std::string(op) == "min") {
    outputs.push_back({DType::kInt64, dims});
  }
  return {"cumulative", makeAttributes({{"op", std::string(op)}, {"axis", axis}}), {std::move(in)}, outputs};
}

// More elements than one block takes of a line.
TEST(Cumulations, LongLinesAreCutIntoParts) {
  for (const char* op : {"sum", "max", "min"}) {
    expectBitsAsOnCpu(cumulative(op, makeTensor(DType::kFloat32, {2, 9000}, repeating(18000, 777)), 1));
  }
  expectBitsAsOnCpu(cumulative("prod", makeTensor(DType::kInt32, {9000}, mixedValues(9000, DType::kInt8)), 0));
}

TEST(Cumulations, ProductsStayZeroBehindAZero) {
  Values values(400, 1e30);
  values[1] = 0;
  expectAsOnCpu(cumulative("prod", makeTensor(DType::kFloat32, {400}, values), 0));
}

TEST(Cumulations, EveryDTypeAndAxis) {
  expectAsOnCpu(cumulative("logsumexp", makeTensor(DType::kFloat32, {2, 300}, mixedValues(600, DType::kFloat32)), 1));
  for (const DType dtype : kAllDTypes) {
    for (const char* op : {"sum", "max"}) {
      expectAsOnCpu(cumulative(op, makeTensor(dtype, {3, 50, 2}, mixedValues(300, dtype)), 1));
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
