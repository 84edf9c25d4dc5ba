#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/harness.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Case cumulative(const char* op, Tensor in, int64_t axis) {
  const DType dtype = in.desc.dtype;
  const Ints dims = in.desc.dims;
  std::vector<Output> outputs = {{dtype, dims}};
  if (std::string(op) == "max" || std::string(op) == "min") {
    outputs.push_back({DType::kInt64, dims});
  }
  return {"cumulative", makeAttributes({{"op", std::string(op)}, {"axis", axis}}), {std::move(in)}, outputs};
}

TEST(Cumulative, SumsAndProductsOfEveryDType) {
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) {
      continue;
    }
    const Tensor in = makeTensor(dtype, {2, 3}, {1, 2, 3, 4, 5, 2});
    expectOutputs(cumulative("sum", in, 1), {{1, 3, 6, 4, 9, 11}});
    expectOutputs(cumulative("sum", in, 0), {{1, 2, 3, 5, 7, 5}});
    expectOutputs(cumulative("prod", in, 1), {{1, 2, 6, 4, 20, 40}});
  }
}

TEST(Cumulative, ExtremesTakeTheLastOfEquals) {
  const Tensor in = makeTensor(DType::kInt32, {5}, {3, 1, 3, 4, 1});
  expectOutputs(cumulative("max", in, 0), {{3, 3, 3, 4, 4}, {0, 0, 2, 3, 3}});
  expectOutputs(cumulative("min", in, 0), {{3, 1, 1, 1, 1}, {0, 1, 1, 1, 4}});
}

TEST(Cumulative, NanStays) {
  for (const DType dtype : kFloatingDTypes) {
    const Tensor in = makeTensor(dtype, {3}, {1, kNan, 2});
    expectOutputs(cumulative("max", in, 0), {{1, kNan, kNan}, {0, 1, 1}});
    expectOutputs(cumulative("logsumexp", in, 0), {{1, kNan, kNan}});
  }
}

TEST(Cumulative, LogSumExpIsStable) {
  const Tensor in = makeTensor(DType::kFloat64, {3}, {1000, 1000, -1000});
  expectOutputs(cumulative("logsumexp", in, 0), {{1000, 1000 + std::log(2.0), 1000 + std::log(2.0)}});
}

TEST(Cumulative, LongLinesNothingAndWrapping) {
  expectOutputs(cumulative("sum", makeTensor(DType::kFloat32, {1200}, Values(1200, 1)), 0), {iota(1200, 1)});
  expectOutputs(cumulative("sum", makeTensor(DType::kFloat32, {0, 2}, {}), 0), {{}});
  expectOutputs(cumulative("sum", makeTensor(DType::kInt8, {3}, {100, 27, 1}), 0), {{100, 127, -128}});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
