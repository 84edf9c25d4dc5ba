// The plugins whose results are as long as the data say, against lists made by hand: inputs in any layout, on one
// thread and three. tests/python compares them with PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cpu/harness.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Case pluginCase(const char* type, const Ints& counted, std::vector<std::optional<Tensor>> inputs,
                std::vector<Output> outputs) {
  plugin::registerBuiltinPlugins();
  outputs.push_back({DType::kInt64, {}});
  return {"plugin_v2",
          makeAttributes({{"namespace", std::string("torchtrt")},
                          {"type", std::string(type)},
                          {"version", std::string("1")},
                          {"counted", counted}}),
          std::move(inputs), std::move(outputs)};
}

bool isSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// Expects the first rows of counted outputs, and the others as a whole.
void expectCounted(const Case& layer, int64_t count, const std::vector<Values>& expected) {
  const Ints& counted = layer.attributes.getInts("counted");
  for (const Layout layout : {Layout::kRowMajor, Layout::kColumnMajor, Layout::kChannelsLast, Layout::kWithGaps}) {
    Case variant = layer;
    for (std::optional<Tensor>& input : variant.inputs) {
      input = makeTensor(input->desc.dtype, input->desc.dims, input->values(), layout);
    }
    for (const int threads : {1, 3}) {
      const std::vector<Tensor> results = run(variant, Layout::kRowMajor, threads);
      ASSERT_EQ(results.back().values(), Values{static_cast<double>(count)}) << problemOf(layer).toString();
      for (size_t i = 0; i < expected.size(); ++i) {
        const Values got = results[i].values();
        const bool is_counted = std::find(counted.begin(), counted.end(), static_cast<int64_t>(i)) != counted.end();
        ASSERT_TRUE(is_counted ? got.size() >= expected[i].size() : got.size() == expected[i].size());
        for (size_t k = 0; k < expected[i].size(); ++k) {
          ASSERT_TRUE(isSame(got[k], expected[i][k]))
              << problemOf(layer).toString() << ": output " << i << ", element " << k << " is " << got[k];
        }
      }
    }
  }
}

Case nonZero(Tensor in, bool by_axis = false) {
  const int64_t n = static_cast<int64_t>(in.values().size());
  const auto rank = static_cast<int64_t>(in.desc.dims.size());
  Ints counted(static_cast<size_t>(by_axis ? rank : 1));
  std::iota(counted.begin(), counted.end(), int64_t{0});
  std::vector<Output> outputs(counted.size(), {DType::kInt64, {n}});
  if (!by_axis) {
    outputs[0].dims.push_back(rank);
  }
  Case layer = pluginCase("NonZero", counted, {std::move(in)}, outputs);
  layer.attributes.set("by_axis", by_axis);
  return layer;
}

TEST(NonZero, GivesPlacesInRowMajorOrder) {
  for (const DType dtype : kAllDTypes) {
    const Tensor in = makeTensor(dtype, {2, 3}, {0, 1, 0, 1, 0, 1});
    expectCounted(nonZero(in), 3, {{0, 1, 1, 0, 1, 2}});
    expectCounted(nonZero(in, true), 3, {{0, 1, 1}, {1, 0, 2}});
  }
}

TEST(NonZero, NanIsSomethingAndMinusZeroIsNot) {
  for (const DType dtype : kFloatingDTypes) {
    expectCounted(nonZero(makeTensor(dtype, {4}, {kNan, -0.0, kInfinity, 0})), 2, {{0, 2}});
  }
}

TEST(NonZero, ScalarsAndNothing) {
  expectCounted(nonZero(makeTensor(DType::kInt32, {}, {7})), 1, {{}});
  expectCounted(nonZero(makeTensor(DType::kInt32, {}, {0})), 0, {{}});
  expectCounted(nonZero(makeTensor(DType::kFloat32, {0, 3}, {})), 0, {{}});
  expectCounted(nonZero(makeTensor(DType::kFloat32, {3}, {0, 0, 0})), 0, {{}});
}

TEST(NonZero, ManyChunks) {
  constexpr int64_t kCount = 50000;
  Values in, places;
  for (int64_t i = 0; i < kCount; ++i) {
    in.push_back(i % 7 == 3 ? 1 : 0);
    if (i % 7 == 3) {
      places.push_back(static_cast<double>(i));
    }
  }
  expectCounted(nonZero(makeTensor(DType::kBool, {kCount}, in)), static_cast<int64_t>(places.size()), {places});
}

Case maskedRows(Tensor in, const Values& mask) {
  Output out = {in.desc.dtype, in.desc.dims};
  Tensor rows = makeTensor(DType::kBool, {static_cast<int64_t>(mask.size())}, mask);
  return pluginCase("MaskedRows", {0}, {std::move(in), std::move(rows)}, {std::move(out)});
}

TEST(MaskedRows, TakesRowsOfAnyRankAndDType) {
  for (const DType dtype : kAllDTypes) {
    expectCounted(maskedRows(makeTensor(dtype, {4}, {1, 0, 0, 1}), {1, 1, 0, 1}), 3, {{1, 0, 1}});
    expectCounted(maskedRows(makeTensor(dtype, {3, 2, 2}, {1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0}), {1, 0, 1}), 2,
                  {{1, 0, 1, 1, 0, 1, 0, 0}});
  }
}

TEST(MaskedRows, NothingAndAll) {
  const Tensor in = makeTensor(DType::kFloat32, {2, 2}, {1, 2, 3, 4});
  expectCounted(maskedRows(in, {0, 0}), 0, {{}});
  expectCounted(maskedRows(in, {1, 1}), 2, {{1, 2, 3, 4}});
  expectCounted(maskedRows(makeTensor(DType::kFloat32, {0, 2}, {}), {}), 0, {{}});
  expectCounted(maskedRows(makeTensor(DType::kFloat32, {2, 0}, {}), {1, 0}), 1, {{}});
}

Case unique(Tensor in, bool consecutive = false) {
  const Ints dims = in.desc.dims;
  const DType dtype = in.desc.dtype;
  Case layer =
      pluginCase("Unique", {0, 2}, {std::move(in)}, {{dtype, dims}, {DType::kInt64, dims}, {DType::kInt64, dims}});
  layer.attributes.set("consecutive", consecutive);
  return layer;
}

TEST(Unique, SortsAndCounts) {
  for (const DType dtype : kAllDTypes) {
    if (dtype == DType::kBool) {
      expectCounted(unique(makeTensor(dtype, {3}, {1, 0, 1})), 2, {{0, 1}, {1, 0, 1}, {1, 2}});
      continue;
    }
    const Tensor in = makeTensor(dtype, {5}, {3, 1, 3, 3, 2});
    expectCounted(unique(in), 3, {{1, 2, 3}, {2, 0, 2, 2, 1}, {1, 1, 3}});
    expectCounted(unique(in, true), 4, {{3, 1, 3, 2}, {0, 1, 2, 2, 3}, {1, 1, 2, 1}});
  }
}

TEST(Unique, NanIsLastAndNoOtherNan) {
  for (const DType dtype : kFloatingDTypes) {
    const Tensor in = makeTensor(dtype, {5}, {kNan, 1, kNan, -kInfinity, 1});
    expectCounted(unique(in), 4, {{-kInfinity, 1, kNan, kNan}, {2, 1, 3, 0, 1}, {1, 2, 1, 1}});
    expectCounted(unique(makeTensor(dtype, {3}, {kNan, kNan, 1}), true), 3, {{kNan, kNan, 1}, {0, 1, 2}, {1, 1, 1}});
  }
}

TEST(Unique, KeepsTheFirstOfEqualZeros) {
  const Case layer = unique(makeTensor(DType::kFloat32, {3}, {1, -0.0, 0}));
  EXPECT_TRUE(std::signbit(runOne(layer)[0]));
}

TEST(Unique, WideIntegersAndNothing) {
  const double wide = 9007199254740992.0;  // 2^53, whose successor only int64 has
  expectCounted(unique(makeTensor(DType::kInt64, {2}, {wide, -wide})), 2, {{-wide, wide}});
  expectCounted(unique(makeTensor(DType::kFloat32, {0}, {})), 0, {{}, {}, {}});
}

Case suppression(DType dtype, const Values& boxes, const Values& scores, double threshold) {
  const auto n = static_cast<int64_t>(scores.size());
  Case layer = pluginCase("Suppression", {0}, {makeTensor(dtype, {n, 4}, boxes), makeTensor(dtype, {n}, scores)},
                          {{DType::kInt64, {n}}});
  layer.attributes.set("iou_threshold", threshold);
  return layer;
}

TEST(Suppression, KeepsTheBestOfThoseThatOverlap) {
  const Values boxes = {0, 0, 2, 2, 0, 0, 2, 1, 5, 5, 6, 6, 0, 0, 2, 2};
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    expectCounted(suppression(dtype, boxes, {1, 3, 2, 1}, 0.4), 2, {{1, 2}});
    expectCounted(suppression(dtype, boxes, {1, 3, 2, 1}, 0.5), 3, {{1, 2, 0}});  // half is not more than half
    expectCounted(suppression(dtype, boxes, {1, 1, 1, 1}, 1), 4, {{0, 1, 2, 3}});
    expectCounted(suppression(dtype, boxes, {1, 1, kNan, 1}, 0.4), 2, {{2, 0}});
    expectCounted(suppression(dtype, {}, {}, 0.4), 0, {{}});
  }
}

TEST(CountedPlugins, InsistOnNamingWhatTheyCount) {
  Case layer = maskedRows(makeTensor(DType::kFloat32, {2}, {1, 2}), {1, 0});
  layer.attributes.erase("counted");
  EXPECT_THROW(run(layer), EngineError);
  layer.attributes.set("counted", Ints{1});
  EXPECT_THROW(run(layer), EngineError);
}

TEST(CountedPlugins, OperandsThatDoNotFitAreErrors) {
  EXPECT_THROW(run(maskedRows(makeTensor(DType::kFloat32, {3}, {1, 2, 3}), {1, 0})), EngineError);
  Case small = unique(makeTensor(DType::kFloat32, {3}, {1, 2, 3}));
  small.outputs[0].dims = {2};
  EXPECT_THROW(run(small), EngineError);
  Case few = unique(makeTensor(DType::kFloat32, {3}, {1, 2, 3}));
  few.outputs.erase(few.outputs.begin());
  EXPECT_THROW(run(few), EngineError);
  Case absent = nonZero(makeTensor(DType::kFloat32, {}, {1}));
  absent.inputs[0] = std::nullopt;
  EXPECT_THROW(run(absent), EngineError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
