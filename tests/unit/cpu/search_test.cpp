// The plugin for searchsorted and bucketize against numbers made by hand, in any layout; tests/python compares it with
// PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "cpu/harness.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

Case search(const Tensor& bounds, const Tensor& values, bool right, bool int32 = false) {
  plugin::registerBuiltinPlugins();
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string("Search")},
                          {"right", right},
                          {"int32", int32}}),
          {bounds, values},
          {{int32 ? DType::kInt32 : DType::kInt64, values.desc.dims}}};
}

TEST(Search, CountsWhatLiesBefore) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt64, DType::kUInt8}) {
    const Tensor bounds = makeTensor(dtype, {5}, {1, 3, 3, 3, 7});
    const Tensor values = makeTensor(dtype, {2, 5}, {0, 1, 2, 3, 4, 6, 7, 8, 3, 1});
    expectOutputs(search(bounds, values, false), {{0, 0, 1, 1, 4, 4, 4, 5, 1, 0}});
    expectOutputs(search(bounds, values, true, true), {{0, 1, 1, 4, 4, 4, 5, 5, 4, 1}});
  }
}

// Every number of boundaries, so that searches end after one step more or less.
TEST(Search, EveryCount) {
  for (int64_t count = 0; count < 40; ++count) {
    const Values bounds = iota(count, 0, 2);
    Values before, upto;
    for (int64_t value = -1; value < 2 * count + 1; ++value) {
      before.push_back(static_cast<double>((value + 1) / 2));
      upto.push_back(static_cast<double>(value < 0 ? 0 : std::min(count, value / 2 + 1)));
    }
    const Tensor values = makeTensor(DType::kFloat32, {2 * count + 2}, iota(2 * count + 2, -1));
    expectOutputs(search(makeTensor(DType::kFloat32, {count}, bounds), values, false), {before});
    expectOutputs(search(makeTensor(DType::kFloat32, {count}, bounds), values, true), {upto});
  }
}

TEST(Search, RowsHaveBoundariesOfTheirOwn) {
  const Tensor bounds = makeTensor(DType::kFloat32, {2, 3}, {1, 2, 3, 10, 20, 30});
  expectOutputs(search(bounds, makeTensor(DType::kFloat32, {2, 2}, {2.5, 9, 9, 25}), false), {{2, 3, 0, 2}});
  expectOutputs(search(bounds, makeTensor(DType::kFloat32, {2, 0}, {}), false), {{}});
}

TEST(Search, NanLiesBehindAll) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor bounds = makeTensor(DType::kFloat64, {3}, {1, 2, 3});
  expectOutputs(search(bounds, makeTensor(DType::kFloat64, {1}, {nan}), false), {{3}});
  expectOutputs(search(bounds, makeTensor(DType::kFloat64, {}, {2}), true), {{2}});
}

}  // namespace
}  // namespace torchtrt::kernels::testing
