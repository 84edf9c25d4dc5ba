// The plugins for regions and deformed columns against numbers made by hand, in any layout; tests/python compares them
// with torchvision.
#include <gtest/gtest.h>

#include <limits>

#include "cpu/harness.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16};

Attributes fieldsOf(const char* type, Attributes fields) {
  plugin::registerBuiltinPlugins();
  fields.set("namespace", std::string("torchtrt"));
  fields.set("type", std::string(type));
  fields.set("version", std::string("1"));
  return fields;
}

// One cell per region of two images [2,channels,2,3] that count up from 0.
Case pool(DType dtype, const char* op, const Values& regions, int64_t channels = 1, int64_t rows = 1) {
  Values pixels;
  for (int64_t i = 0; i < 2 * channels * 6; ++i) {
    pixels.push_back(static_cast<double>(i));
  }
  const auto count = static_cast<int64_t>(regions.size() / 5);
  const int64_t out = std::string(op).find("position") == std::string::npos ? channels : channels / rows;
  Case layer = {"plugin_v2",
                fieldsOf("PoolRegions", makeAttributes({{"op", std::string(op)},
                                                        {"rows", rows},
                                                        {"columns", int64_t{1}},
                                                        {"spatial_scale", 1.0},
                                                        {"sampling_ratio", int64_t{1}},
                                                        {"aligned", true}})),
                {makeTensor(dtype, {2, channels, 2, 3}, pixels), makeTensor(dtype, {count, 5}, regions)},
                {{dtype, {count, out, rows, 1}}}};
  if (std::string(op) == "max") {
    layer.outputs.push_back({DType::kInt32, {count, out, rows, 1}});
  }
  return layer;
}

TEST(PoolRegions, AlignTakesTheMiddleOfACell) {
  for (const DType dtype : kDTypes) {
    expectOutputs(pool(dtype, "align", {0, 0, 0, 3, 2, 1, 1, 0, 3, 1}), {{2.5, 7.5}});
    expectOutputs(pool(dtype, "align", {0, 9, 9, 11, 11}), {{0}});
    expectOutputs(pool(dtype, "align", {}), {{}});
  }
}

TEST(PoolRegions, MaxTellsItsPlace) {
  for (const DType dtype : kDTypes) {
    expectOutputs(pool(dtype, "max", {0, 0, 0, 1, 1, 1, 5, 5, 6, 6}), {{4, 0}, {4, -1}});
  }
}

TEST(PoolRegions, ByPositionEveryCellHasChannelsOfItsOwn) {
  for (const DType dtype : kDTypes) {
    expectOutputs(pool(dtype, "align_by_position", {0, 0, 0, 3, 2}, 2, 2), {{1, 10}});
    expectOutputs(pool(dtype, "mean_by_position", {1, 0, 0, 2, 1}, 2, 2), {{12.5, 18.5}});
  }
}

TEST(PoolRegions, AnImageThatIsNotThereIsAnError) {
  for (const double index : {-1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    try {
      run(pool(DType::kFloat32, "align", {index, 0, 0, 1, 1}));
      FAIL() << "read image " << index;
    } catch (const EngineError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIndexOutOfRange);
    }
  }
}

TEST(PoolRegions, ShapesThatDoNotFitAreErrors) {
  Case too_large = pool(DType::kFloat32, "align", {0, 0, 0, 1, 1});
  too_large.outputs[0].dims[3] = 2;
  EXPECT_THROW(run(too_large), EngineError);
  Case uneven = pool(DType::kFloat32, "align_by_position", {0, 0, 0, 1, 1}, 2, 2);
  uneven.attributes.set("rows", int64_t{3});
  EXPECT_THROW(run(uneven), EngineError);
  Case unknown = pool(DType::kFloat32, "align", {0, 0, 0, 1, 1});
  unknown.attributes.set("op", std::string("median"));
  EXPECT_THROW(run(unknown), EngineError);
}

// A kernel of 1 x 2 over an image [1,1,2,3] of 1 to 6, moved by (dy, dx) at the four places of each tap.
Case deform(DType dtype, const Values& offset, const Values& mask = {}) {
  Case layer = {"plugin_v2",
                fieldsOf("DeformedColumns", makeAttributes({{"kernel", std::vector<int64_t>{1, 2}},
                                                            {"stride", std::vector<int64_t>{1, 1}},
                                                            {"padding", std::vector<int64_t>{0, 0}},
                                                            {"dilation", std::vector<int64_t>{1, 1}},
                                                            {"offset_groups", int64_t{1}}})),
                {makeTensor(dtype, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), makeTensor(dtype, {1, 4, 2, 2}, offset)},
                {{dtype, {1, 2, 4}}}};
  if (!mask.empty()) {
    layer.inputs.push_back(makeTensor(dtype, {1, 2, 2, 2}, mask));
  }
  return layer;
}

TEST(DeformedColumns, WithoutOffsetsAreThoseOfAConvolution) {
  for (const DType dtype : kDTypes) {
    expectOutputs(deform(dtype, Values(16, 0)), {{1, 2, 4, 5, 2, 3, 5, 6}});
  }
}

TEST(DeformedColumns, MoveIntoZerosAndAreWeighed) {
  Values offset(16, 0);
  std::fill(offset.begin() + 4, offset.begin() + 8, -0.5);  // the first tap half a pixel to the left
  std::fill(offset.begin() + 8, offset.begin() + 12, 5);    // the second one far below
  for (const DType dtype : kDTypes) {
    expectOutputs(deform(dtype, offset), {{0.5, 1.5, 2, 4.5, 0, 0, 0, 0}});
    expectOutputs(deform(dtype, offset, {2, 2, 0, 1, 1, 1, 1, 1}), {{1, 3, 0, 4.5, 0, 0, 0, 0}});
  }
}

TEST(DeformedColumns, ShapesThatDoNotFitAreErrors) {
  Case layer = deform(DType::kFloat32, Values(16, 0));
  layer.inputs[1] = makeTensor(DType::kFloat32, {1, 4, 1, 2}, Values(8, 0));
  EXPECT_THROW(run(layer), EngineError);
  layer = deform(DType::kFloat32, Values(16, 0));
  layer.attributes.set("stride", std::vector<int64_t>{0, 1});
  EXPECT_THROW(run(layer), EngineError);
  layer = deform(DType::kBFloat16, Values(16, 0));
  EXPECT_THROW(run(layer), EngineError);
}

}  // namespace
}  // namespace torchtrt::kernels::testing
