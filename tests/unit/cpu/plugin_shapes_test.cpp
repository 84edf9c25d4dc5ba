// Plugins of plans that somebody changed: operands and outputs that are not as large as fields and each other say are
// refused before anything runs, once for each set of shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "cpu/harness.h"
#include "cpu/loops/strided_loop.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

using ::testing::HasSubstr;

Case pluginCase(const char* home, const char* type, std::vector<std::pair<const char*, AttributeValue>> fields,
                std::vector<std::optional<Tensor>> inputs, std::vector<Output> outputs) {
  plugin::registerBuiltinPlugins();
  Attributes attributes = makeAttributes({{"namespace", std::string(home)}, {"type", std::string(type)}});
  for (auto& [name, value] : fields) {
    attributes.set(name, std::move(value));
  }
  return {"plugin_v2", std::move(attributes), std::move(inputs), std::move(outputs)};
}

Tensor zeros(const Ints& dims, DType dtype = DType::kFloat32) {
  return makeTensor(dtype, dims, Values(static_cast<size_t>(countOf(dims)), 0));
}

// Two sequences of 3 and 2 tokens, with 1 and 0 before them in a cache of 4; 2 heads of 4 share a key head.
Case gptAttention() {
  return pluginCase("tensorrt_llm", "GPTAttention",
                    {{"num_heads", int64_t{2}},
                     {"num_kv_heads", int64_t{1}},
                     {"head_size", int64_t{4}},
                     {"rotary_embedding_dim", int64_t{4}},
                     {"operands", std::string("qkv,context_lengths,past_lengths,past_key_value,qkv_bias")}},
                    {zeros({2, 3, 16}), makeTensor(DType::kInt64, {2}, {3, 2}), makeTensor(DType::kInt32, {2}, {1, 0}),
                     zeros({2, 2, 1, 4, 4}), zeros({16})},
                    {{DType::kFloat32, {2, 3, 8}}, {DType::kFloat32, {2, 2, 1, 4, 4}}});
}

// 2 heads of 4 side by side in channels, and a mask.
Case attention() {
  return pluginCase("torchtrt", "Attention",
                    {{"scale", 1.0},
                     {"transpose_k", true},
                     {"heads", int64_t{2}},
                     {"head_size", int64_t{4}},
                     {"value_size", int64_t{4}},
                     {"q_channel", int64_t{0}},
                     {"k_channel", int64_t{0}},
                     {"v_channel", int64_t{0}}},
                    {zeros({2, 5, 8}), zeros({2, 5, 8}), zeros({2, 5, 8}), zeros({5, 5})},
                    {{DType::kFloat32, {2, 5, 8}}});
}

Case poolRegions() {
  return pluginCase("torchtrt", "PoolRegions",
                    {{"op", std::string("max")}, {"rows", int64_t{2}}, {"columns", int64_t{2}}, {"spatial_scale", 1.0}},
                    {zeros({1, 3, 4, 4}), zeros({2, 5})},
                    {{DType::kFloat32, {2, 3, 2, 2}}, {DType::kInt32, {2, 3, 2, 2}}});
}

Case deformedColumns() {
  const Ints ones = {1, 1};
  return pluginCase(
      "torchtrt", "DeformedColumns",
      {{"kernel", ones}, {"stride", ones}, {"padding", Ints{0, 0}}, {"dilation", ones}, {"offset_groups", int64_t{1}}},
      {zeros({2, 3, 4, 5}), zeros({2, 2, 4, 5}), zeros({2, 1, 4, 5})}, {{DType::kFloat32, {2, 3, 20}}});
}

Case antialiasedResize() {
  return pluginCase("torchtrt", "AntialiasedResize",
                    {{"mode", std::string("linear")},
                     {"size", Ints{2, 3}},
                     {"align_corners", false},
                     {"scales", std::vector<double>{0, 0}}},
                    {zeros({2, 3, 4, 4})}, {{DType::kFloat32, {2, 3, 2, 3}}});
}

Case searchOfRows() {
  return pluginCase("torchtrt", "Search", {{"right", true}, {"int32", false}}, {zeros({3, 9}), zeros({3, 4})},
                    {{DType::kInt64, {3, 4}}});
}

Case nonZero() {
  return pluginCase("torchtrt", "NonZero", {{"by_axis", false}, {"counted", Ints{0}}}, {zeros({3, 4})},
                    {{DType::kInt64, {12, 2}}, {DType::kInt64, {}}});
}

Case maskedRows() {
  return pluginCase("torchtrt", "MaskedRows", {{"counted", Ints{0}}}, {zeros({3, 4}), zeros({3}, DType::kBool)},
                    {{DType::kFloat32, {3, 4}}, {DType::kInt64, {}}});
}

Case unique() {
  return pluginCase("torchtrt", "Unique", {{"consecutive", false}, {"counted", Ints{0, 2}}}, {zeros({6})},
                    {{DType::kFloat32, {6}}, {DType::kInt64, {6}}, {DType::kInt64, {6}}, {DType::kInt64, {}}});
}

Case suppression() {
  return pluginCase("torchtrt", "Suppression", {{"iou_threshold", 0.5}, {"counted", Ints{0}}},
                    {zeros({3, 4}), zeros({3})}, {{DType::kInt64, {3}}, {DType::kInt64, {}}});
}

Case fourier() {
  return pluginCase(
      "torchtrt", "Fourier",
      {{"form", std::string("half")}, {"inverse", false}, {"length", int64_t{6}}, {"axis", int64_t{1}}, {"scale", 1.0}},
      {zeros({2, 6})}, {{DType::kFloat32, {2, 4}}, {DType::kFloat32, {2, 4}}});
}

Case shortTimeFourier() {
  return pluginCase("torchtrt", "ShortTimeFourier",
                    {{"length", int64_t{4}}, {"hop", int64_t{2}}, {"one_sided", true}, {"scale", 1.0}},
                    {zeros({2, 9}), zeros({4})}, {{DType::kFloat32, {2, 3, 3}}, {DType::kFloat32, {2, 3, 3}}});
}

Case inverseShortTimeFourier() {
  return pluginCase(
      "torchtrt", "InverseShortTimeFourier",
      {{"length", int64_t{4}}, {"hop", int64_t{2}}, {"scale", 0.25}, {"trim", int64_t{1}}, {"samples", int64_t{-1}}},
      {zeros({2, 3, 3}), zeros({2, 3, 3}), makeTensor(DType::kFloat32, {4}, {1, 1, 1, 1})},
      {{DType::kFloat32, {2, 6}}});
}

class PluginShapes : public ::testing::TestWithParam<Case (*)()> {};

// "" when it ran.
std::string errorOf(const Case& layer) {
  try {
    run(layer);
    return "";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    return error.message();
  }
}

TEST_P(PluginShapes, OutputsAreThoseThatThePluginWrites) {
  const Case layer = GetParam()();
  EXPECT_EQ(errorOf(layer), "");
  const std::string type = layer.attributes.getString("namespace") + "::" + layer.attributes.getString("type");
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const auto with = [&](const std::function<void(Output&)>& change) {
      Case changed = layer;
      change(changed.outputs[i]);
      return errorOf(changed);
    };
    const std::string expected = "plugin " + type + ": expected output " + std::to_string(i) + " of ";
    for (size_t axis = 0; axis < layer.outputs[i].dims.size(); ++axis) {
      EXPECT_THAT(with([&](Output& output) { ++output.dims[axis]; }), HasSubstr(expected));
      EXPECT_THAT(with([&](Output& output) { --output.dims[axis]; }), HasSubstr(expected));
    }
    EXPECT_THAT(with([](Output& output) { output.dims.push_back(1); }), HasSubstr(expected));
    EXPECT_THAT(with([](Output& output) { output.dtype = DType::kInt8; }), HasSubstr(expected));
  }
  Case changed = layer;
  changed.outputs.pop_back();
  EXPECT_NE(errorOf(changed), "");
  changed = layer;
  changed.outputs.push_back(layer.outputs[0]);
  EXPECT_NE(errorOf(changed), "");
}

TEST_P(PluginShapes, OperandsAreAllThere) {
  const Case layer = GetParam()();
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    Case changed = layer;
    changed.inputs[i].reset();
    EXPECT_THAT(errorOf(changed), HasSubstr("an operand is missing"));
  }
  Case changed = layer;
  changed.inputs.erase(changed.inputs.begin());
  EXPECT_NE(errorOf(changed), "");
}

INSTANTIATE_TEST_SUITE_P(All, PluginShapes,
                         ::testing::Values(gptAttention, attention, poolRegions, deformedColumns, antialiasedResize,
                                           searchOfRows, nonZero, maskedRows, unique, suppression, fourier,
                                           shortTimeFourier, inverseShortTimeFourier));

// A plan that asks for so much of one region would run for hours.
TEST(PoolRegionsOfPlans, TakeNoMoreSamplesThanAnyModelDoes) {
  Case layer = poolRegions();
  layer.attributes.set("op", std::string("align"));
  layer.outputs.pop_back();
  for (const int64_t ratio : {-1, 0, 2, 1024}) {
    layer.attributes.set("sampling_ratio", ratio);
    EXPECT_EQ(errorOf(layer), "") << ratio;
  }
  for (const int64_t ratio : {int64_t{1025}, int64_t{1} << 40}) {
    layer.attributes.set("sampling_ratio", ratio);
    EXPECT_THAT(errorOf(layer), HasSubstr("expected a sampling ratio up to 1024")) << ratio;
  }
}

// Every other length of one of its operands is none that goes with the others.
void expectEveryAxisRefused(const Case& layer) {
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    for (size_t axis = 0; axis < layer.inputs[i]->desc.dims.size(); ++axis) {
      for (const int64_t by : {-1, 1, 2}) {
        Case changed = layer;
        Ints dims = layer.inputs[i]->desc.dims;
        dims[axis] += by;
        changed.inputs[i] = zeros(dims, layer.inputs[i]->desc.dtype);
        EXPECT_NE(errorOf(changed), "") << "operand " << i << ", axis " << axis << ": " << by;
      }
    }
    Case changed = layer;
    changed.inputs[i] = zeros({1}, layer.inputs[i]->desc.dtype);
    EXPECT_NE(errorOf(changed), "") << "operand " << i;
  }
}

TEST(GptAttentionShapes, AreThoseOfItsFields) {
  expectEveryAxisRefused(gptAttention());
  for (const char* name : {"num_heads", "head_size"}) {
    for (const int64_t value :
         {int64_t{1}, int64_t{3}, int64_t{8}, int64_t{1} << 31, int64_t{1} << 61, int64_t{1} << 62}) {
      Case changed = gptAttention();
      changed.attributes.set(name, value);
      EXPECT_NE(errorOf(changed), "") << name << " " << value;
    }
  }
  Case changed = gptAttention();
  changed.inputs[0] = zeros({2, 3, 20});
  EXPECT_EQ(errorOf(changed),
            "GPTAttention: expected qkv of [batch, tokens, 16] or [1, all tokens, 16], got [2, 3, 20]");
}

TEST(AttentionShapes, AreThoseOfItsFields) {
  Case layer = attention();
  for (const size_t i : {0, 1, 2}) {
    for (const int64_t channels : {4, 7}) {
      Case changed = layer;
      changed.inputs[i] = zeros({2, 5, channels});
      EXPECT_NE(errorOf(changed), "");
    }
    Case changed = layer;
    changed.inputs[i] = zeros({2, 6, 8});
    EXPECT_NE(errorOf(changed), "");
  }
  layer.inputs[3] = zeros({5, 4});
  EXPECT_NE(errorOf(layer), "");
}

}  // namespace
}  // namespace torchtrt::kernels::testing
