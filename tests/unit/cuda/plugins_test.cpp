// Plugins with device code, for more than one block has: as the CPU's.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "cuda/against_reference.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

Case pluginCase(const char* type, std::vector<std::optional<Tensor>> inputs, std::vector<Output> outputs) {
  plugin::registerBuiltinPlugins();
  return {"plugin_v2", makeAttributes({{"namespace", std::string("torchtrt")}, {"type", std::string(type)}}),
          std::move(inputs), std::move(outputs)};
}

// Expects as many rows of the outputs that "counted" names as the last output says.
void expectCountedAsOnCpu(const Case& layer) {
  const std::string text = problemOf(layer).toString();
  EXPECT_TRUE(hasDeviceCode(layer)) << text;
  const std::vector<Values> expected = referenceOf(layer);
  const std::vector<Tensor> results = run(layer);
  ASSERT_EQ(results.back().values(), expected.back()) << text;
  const Ints& counted = layer.attributes.getInts("counted");
  for (size_t i = 0; i + 1 < expected.size(); ++i) {
    Values got = results[i].values(), wanted = expected[i];
    if (std::find(counted.begin(), counted.end(), static_cast<int64_t>(i)) != counted.end()) {
      const int64_t rows = layer.outputs[i].dims[0];
      const size_t shown = wanted.size() / static_cast<size_t>(rows) * static_cast<size_t>(expected.back()[0]);
      got.resize(shown);
      wanted.resize(shown);
    }
    EXPECT_EQ(got, wanted) << text << ": output " << i;
  }
}

Tensor sparse(const Ints& dims, int64_t every) {
  Values values = iota(countOf(dims));
  for (double& value : values) {
    value = std::fmod(value * 7919, static_cast<double>(every)) == 0 ? value : 0;
  }
  return makeTensor(DType::kFloat32, dims, values);
}

TEST(CountedOnDevices, PlacesOfManyChunks) {
  for (const bool by_axis : {false, true}) {
    const Ints dims = {3, 4500};
    Case layer = pluginCase("NonZero", {sparse(dims, 11)}, {});
    layer.outputs =
        by_axis ? std::vector<Output>(2, {DType::kInt64, {13500}}) : std::vector<Output>{{DType::kInt64, {13500, 2}}};
    layer.outputs.push_back({DType::kInt64, {}});
    layer.attributes.set("by_axis", by_axis);
    layer.attributes.set("counted", by_axis ? Ints{0, 1} : Ints{0});
    expectCountedAsOnCpu(layer);
  }
}

TEST(CountedOnDevices, RowsOfAMask) {
  Values mask = sparse({5000}, 3).values();
  for (double& value : mask) {
    value = value != 0 ? 1 : 0;
  }
  Case layer = pluginCase("MaskedRows",
                          {makeTensor(DType::kFloat16, {5000, 2, 2}, mixedValues(20000, DType::kFloat16)),
                           makeTensor(DType::kBool, {5000}, mask)},
                          {{DType::kFloat16, {5000, 2, 2}}, {DType::kInt64, {}}});
  layer.attributes.set("counted", Ints{0});
  expectCountedAsOnCpu(layer);
}

TEST(CountedOnDevices, UniqueValues) {
  for (const bool is_consecutive : {false, true}) {
    Values values = iota(2500);
    for (double& value : values) {
      value = std::floor(std::fmod(value * 7919, 997) / 100);
    }
    Case layer =
        pluginCase("Unique", {makeTensor(DType::kInt64, {2500}, values)},
                   {{DType::kInt64, {2500}}, {DType::kInt64, {2500}}, {DType::kInt64, {2500}}, {DType::kInt64, {}}});
    layer.attributes.set("consecutive", is_consecutive);
    layer.attributes.set("counted", Ints{0, 2});
    expectCountedAsOnCpu(layer);
  }
}

TEST(CountedOnDevices, BoxesThatOverlap) {
  Values boxes = mixedValues(4 * 300, DType::kFloat32), scores = mixedValues(300, DType::kFloat32, 7);
  for (size_t i = 0; i < boxes.size(); i += 4) {
    boxes[i + 2] = boxes[i] + 2 + std::abs(boxes[i + 2]);
    boxes[i + 3] = boxes[i + 1] + 2 + std::abs(boxes[i + 3]);
  }
  for (const double threshold : {0.1, 0.5, 1.0}) {
    Case layer = pluginCase("Suppression",
                            {makeTensor(DType::kFloat32, {300, 4}, boxes), makeTensor(DType::kFloat32, {300}, scores)},
                            {{DType::kInt64, {300}}, {DType::kInt64, {}}});
    layer.attributes.set("iou_threshold", threshold);
    layer.attributes.set("counted", Ints{0});
    expectCountedAsOnCpu(layer);
  }
}

TEST(PoolRegionsOnDevices, EveryOperation) {
  Values regions;
  for (int64_t i = 0; i < 6; ++i) {
    const auto at = static_cast<double>(i);
    regions.insert(regions.end(), {std::fmod(at, 2), at * 0.75 - 1, at * 0.5, at * 0.75 + 3.25, at + 2.5});
  }
  for (const char* op : {"align", "align_by_position", "max", "mean_by_position"}) {
    const bool by_position = std::string(op).ends_with("by_position");
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
      const Output out = {dtype, {6, by_position ? 2 : 12, 3, 2}};
      Case layer = pluginCase(
          "PoolRegions",
          {makeTensor(dtype, {2, 12, 7, 9}, mixedValues(2 * 12 * 63, dtype)), makeTensor(dtype, {6, 5}, regions)},
          {out});
      if (std::string(op) == "max") {
        layer.outputs.push_back({DType::kInt32, out.dims});
      }
      layer.attributes.set("op", std::string(op));
      layer.attributes.set("rows", int64_t{3});
      layer.attributes.set("columns", int64_t{2});
      layer.attributes.set("spatial_scale", 0.875);
      for (const bool aligned : {false, true}) {
        layer.attributes.set("aligned", aligned);
        expectAsOnCpu(layer);
      }
    }
  }
}

// Places inside, at the edge and outside of the image, by two groups of channels.
TEST(DeformedColumnsOnDevices, OfEveryDType) {
  const Ints kernel = {3, 2}, stride = {2, 1}, padding = {1, 0}, dilation = {1, 2};
  const int64_t rows = 3, columns = 6, taps = 6, groups = 2;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
    for (const bool has_mask : {false, true}) {
      const auto mixed = [&](const Ints& dims, uint32_t seed) {
        return makeTensor(dtype, dims, mixedValues(countOf(dims), dtype, seed));
      };
      Case layer =
          pluginCase("DeformedColumns", {mixed({2, 4, 5, 8}, 1), mixed({2, groups * 2 * taps, rows, columns}, 2)},
                     {{dtype, {2, 4 * taps, rows * columns}}});
      if (has_mask) {
        layer.inputs.emplace_back(mixed({2, groups * taps, rows, columns}, 3));
      }
      layer.attributes.set("kernel", kernel);
      layer.attributes.set("stride", stride);
      layer.attributes.set("padding", padding);
      layer.attributes.set("dilation", dilation);
      layer.attributes.set("offset_groups", groups);
      expectAsOnCpu(layer);
    }
  }
}

}  // namespace
}  // namespace torchtrt::kernels::testing
