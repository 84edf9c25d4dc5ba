// Every layer kind and plugin of the project with every dtype: computed by a kernel on the GPU ("gpu"), by the CPU's
// with copies ("host"), or no layer ("-"). The table is what the project says of itself; a cell that becomes "host" is
// a step back.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/operations.h"
#include "builder/device_kernels.h"
#include "torchtrt/network.h"
#include "torchtrt/plugin.h"

namespace torchtrt::network {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<DType> kColumns = {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
                                     DType::kInt16,   DType::kInt32,   DType::kInt64,   DType::kUInt8,    DType::kBool};

// An operand; without a dtype it has the column's.
struct Given {
  Dims dims;
  std::optional<DType> dtype = std::nullopt;
};

struct Sample {
  std::string name;
  LayerType type;
  std::vector<Given> operands;
  std::vector<std::pair<const char*, AttributeValue>> attributes;
};

Attributes attributesOf(const Sample& sample, DType column) {
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) {
    attributes.set(name, value);
  }
  if (sample.type == LayerType::kFILL) {
    attributes.set("dtype", column);
  }
  return attributes;
}

// "gpu", "host", or "-" where the layer's rules do not take the dtype.
std::string cellOf(const Sample& sample, DType column, const kernels::Backend& backend) {
  Network network;
  std::vector<Tensor*> operands;
  for (const Given& given : sample.operands) {
    operands.push_back(
        network.addInput("in" + std::to_string(operands.size()), given.dtype.value_or(column), given.dims));
  }
  try {
    const Layer& layer = *network.addLayer(sample.type, operands, attributesOf(sample, column));
    network.markOutput(*layer.getOutput(0));
    verify(network);
    return builder::refusalOfDevice(layer, backend) ? "host" : "gpu";
  } catch (const Error&) {
    return "-";
  }
}

constexpr DType kF32 = DType::kFloat32;
const Dims kImage = {1, 4, 6, 6};

AttributeValue word(const char* text) {
  return std::string(text);
}

void addPooling(std::vector<Sample>& samples) {
  const Ints ones = {1, 1}, zeros = {0, 0}, twos = {2, 2};
  const auto add = [&](const std::string& name, const char* op, bool indices) {
    samples.push_back({"pooling, " + name,
                       LayerType::kPOOLING,
                       {{kImage}},
                       {{"op", word(op)},
                        {"window", twos},
                        {"stride", twos},
                        {"pre_padding", zeros},
                        {"post_padding", zeros},
                        {"dilation", ones},
                        {"return_indices", indices}}});
    samples.push_back({"adaptive_pooling, " + name,
                       LayerType::kADAPTIVE_POOLING,
                       {{kImage}},
                       {{"op", word(op)}, {"output_size", Dims{2, 2}}, {"return_indices", indices}}});
  };
  add("max", "max", false);
  add("max with places", "max", true);
  add("average", "average", false);
}

void addConvolutions(std::vector<Sample>& samples) {
  const Ints ones = {1, 1}, zeros = {0, 0};
  const std::vector<std::pair<const char*, AttributeValue>> window = {
      {"stride", ones}, {"pre_padding", zeros}, {"post_padding", zeros}, {"dilation", ones}};
  samples.push_back({"convolution", LayerType::kCONVOLUTION, {{kImage}, {{4, 4, 3, 3}}}, window});
  Sample deconvolution = {"deconvolution", LayerType::kDECONVOLUTION, {{kImage}, {{4, 4, 3, 3}}}, window};
  deconvolution.attributes.emplace_back("output_padding", zeros);
  samples.push_back(deconvolution);
  Sample quantized = {"quantized_convolution",
                      LayerType::kQUANTIZED_CONVOLUTION,
                      {{kImage}, {{4, 4, 3, 3}, DType::kInt8}, {{4}, kF32}},
                      window};
  quantized.attributes.emplace_back("to", kF32);
  samples.push_back(quantized);
}

void addPointwise(std::vector<Sample>& samples) {
#define ACTIVATION(NAME, DOMAIN, TEXT) \
  samples.push_back({"activation", LayerType::kACTIVATION, {{{2, 3}}}, {{"op", word(#NAME)}}});
#define UNARY(NAME, DOMAIN, RESULT, TEXT) \
  samples.push_back({"unary", LayerType::kUNARY, {{{2, 3}}}, {{"op", word(#NAME)}}});
#define BINARY(NAME, DOMAIN, RESULT, TEXT) \
  samples.push_back({"elementwise", LayerType::kELEMENTWISE, {{{2, 3}}, {{2, 3}}}, {{"op", word(#NAME)}}});
#include "torchtrt/operations.def"
#undef ACTIVATION
#undef UNARY
#undef BINARY
  samples.push_back({"parametric_relu", LayerType::kPARAMETRIC_RELU, {{{2, 3}}, {{3}}}, {}});
  samples.push_back({"select", LayerType::kSELECT, {{{2, 3}, DType::kBool}, {{2, 3}}, {{2, 3}}}, {}});
  for (const DType to : kColumns) {
    samples.push_back({"cast", LayerType::kCAST, {{{2, 3}}}, {{"to", to}}});
  }
  for (const DType to : {DType::kInt8, DType::kUInt8}) {
    samples.push_back({"quantize",
                       LayerType::kQUANTIZE,
                       {{{2, 3}}},
                       {{"to", to}, {"scale", 0.5}, {"low", int64_t{0}}, {"high", int64_t{127}}}});
  }
  samples.push_back({"dequantize", LayerType::kDEQUANTIZE, {{{2, 3}}}, {{"scale", 0.5}}});
}

void addMovement(std::vector<Sample>& samples) {
  samples.push_back({"shuffle", LayerType::kSHUFFLE, {{{2, 3}}}, {{"first_permutation", Ints{1, 0}}}});
  samples.push_back(
      {"slice", LayerType::kSLICE, {{{2, 3}}}, {{"start", Dims{0, 1}}, {"size", Dims{2, 2}}, {"stride", Ints{1, 1}}}});
  samples.push_back({"expand", LayerType::kEXPAND, {{{1, 3}}}, {{"dims", Dims{2, 3}}}});
  samples.push_back({"concatenation", LayerType::kCONCATENATION, {{{2, 3}}, {{2, 3}}}, {{"axis", int64_t{1}}}});
  samples.push_back({"identity", LayerType::kIDENTITY, {{{2, 3}}}, {}});
  samples.push_back({"reformat", LayerType::kREFORMAT, {{kImage}}, {}});
  for (const char* mode : {"default", "element"}) {
    const Dims places = word(mode) == word("default") ? Dims{2} : Dims{2, 3};
    samples.push_back({"gather",
                       LayerType::kGATHER,
                       {{{2, 3}}, {places, DType::kInt64}},
                       {{"mode", word(mode)}, {"axis", int64_t{0}}}});
    for (const char* fold : {"none", "sum", "prod", "max", "min"}) {
      samples.push_back({"scatter",
                         LayerType::kSCATTER,
                         {{{2, 3}}, {places, DType::kInt64}, {{2, 3}}},
                         {{"mode", word(mode)}, {"axis", int64_t{0}}, {"reduce", word(fold)}}});
    }
  }
  for (const char* mode : {"constant", "reflect", "replicate", "circular"}) {
    samples.push_back({"padding",
                       LayerType::kPADDING,
                       {{{2, 3}}},
                       {{"mode", word(mode)}, {"pre", Dims{0, 1}}, {"post", Dims{0, 1}}}});
  }
  for (const char* op : {"constant", "arange"}) {
    samples.push_back({"fill", LayerType::kFILL, {}, {{"op", word(op)}, {"dims", Dims{3}}}});
  }
}

void addReductions(std::vector<Sample>& samples) {
  for (const char* op :
       {"sum", "prod", "max", "min", "avg", "any", "all", "var", "std", "norm1", "norm2", "logsumexp"}) {
    samples.push_back(
        {"reduce", LayerType::kREDUCE, {{{2, 3}}}, {{"op", word(op)}, {"axes", Ints{1}}, {"keep_dims", false}}});
  }
  for (const char* op : {"sum", "prod", "max", "min", "logsumexp"}) {
    samples.push_back({"cumulative", LayerType::kCUMULATIVE, {{{2, 3}}}, {{"op", word(op)}, {"axis", int64_t{1}}}});
  }
  samples.push_back({"softmax", LayerType::kSOFTMAX, {{{2, 3}}}, {{"axis", int64_t{1}}}});
  for (const char* ties : {"first", "sort", "topk", "kthvalue"}) {
    samples.push_back({"topk, ties " + std::string(ties),
                       LayerType::kTOPK,
                       {{{2, 3}}},
                       {{"k", Dims{2}}, {"axis", int64_t{1}}, {"ties", word(ties)}}});
  }
  for (const char* mode : {"layer", "group", "instance", "rms"}) {
    samples.push_back({"normalization",
                       LayerType::kNORMALIZATION,
                       {{kImage}},
                       {{"mode", word(mode)}, {"eps", 0.5}, {"groups", int64_t{2}}}});
  }
  samples.push_back({"normalization",
                     LayerType::kNORMALIZATION,
                     {{kImage}, {{4}}, {{4}}, {{4}}, {{4}}},
                     {{"mode", word("batch")}, {"eps", 0.5}}});
}

void addOthers(std::vector<Sample>& samples) {
  samples.push_back({"matrix_multiply", LayerType::kMATRIX_MULTIPLY, {{{2, 3}}, {{3, 2}}}, {}});
  samples.push_back({"quantized_matrix_multiply",
                     LayerType::kQUANTIZED_MATRIX_MULTIPLY,
                     {{{2, 3}}, {{3, 2}, DType::kInt8}, {{2}, kF32}},
                     {{"to", kF32}}});
  for (const char* mode : {"nearest", "nearest_exact", "linear", "cubic"}) {
    samples.push_back({"resize", LayerType::kRESIZE, {{kImage}}, {{"mode", word(mode)}, {"size", Dims{3, 9}}}});
  }
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    samples.push_back({"grid_sample", LayerType::kGRID_SAMPLE, {{kImage}, {{1, 2, 3, 2}}}, {{"mode", word(mode)}}});
  }
  for (const auto& [op, gates] : {std::pair<const char*, int64_t>{"lstm", 4}, {"gru", 3}, {"rnn_tanh", 1}}) {
    Sample sample = {"recurrent",
                     LayerType::kRECURRENT,
                     {{{5, 2, gates * 3}}, {{gates * 3, 3}}, {{gates * 3}}, {{2, 3}}},
                     {{"op", word(op)}}};
    if (gates == 4) {
      sample.operands.push_back({{2, 3}});
    }
    samples.push_back(sample);
  }
}

void addPlugin(std::vector<Sample>& samples, const char* type, const std::vector<Given>& operands,
               std::vector<std::pair<const char*, AttributeValue>> fields, const char* home = "torchtrt") {
  fields.emplace_back("namespace", word(home));
  fields.emplace_back("type", word(type));
  fields.emplace_back("version", word("1"));
  samples.push_back({"plugin " + std::string(type), LayerType::kPLUGIN_V2, operands, std::move(fields)});
}

void addPlugins(std::vector<Sample>& samples) {
  const Ints ones = {1, 1};
  addPlugin(samples, "Attention", {{{2, 5, 8}}, {{2, 7, 8}}, {{2, 7, 8}}}, {{"scale", 1.0}, {"transpose_k", true}});
  addPlugin(samples, "GPTAttention", {{{2, 3, 24}}},
            {{"num_heads", int64_t{2}}, {"head_size", int64_t{4}}, {"rotary_embedding_dim", int64_t{4}}},
            "tensorrt_llm");
  for (const char* op : {"align", "max", "align_by_position", "mean_by_position"}) {
    addPlugin(samples, "PoolRegions", {{kImage}, {{3, 5}}},
              {{"op", word(op)}, {"rows", int64_t{2}}, {"columns", int64_t{2}}, {"spatial_scale", 1.0}});
  }
  addPlugin(
      samples, "DeformedColumns", {{kImage}, {{1, 2, 6, 6}}, {{1, 1, 6, 6}}},
      {{"kernel", ones}, {"stride", ones}, {"padding", Ints{0, 0}}, {"dilation", ones}, {"offset_groups", int64_t{1}}});
  addPlugin(samples, "AntialiasedResize", {{kImage}},
            {{"mode", word("linear")},
             {"size", Ints{3, 9}},
             {"align_corners", false},
             {"scales", std::vector<double>{0, 0}}});
  addPlugin(samples, "Search", {{{9}}, {{3, 4}}}, {{"right", true}, {"int32", false}});
  for (const char* form : {"half", "full", "complex", "real"}) {
    addPlugin(samples, "Fourier", {{{2, 6}}},
              {{"form", word(form)}, {"inverse", false}, {"length", int64_t{6}}, {"axis", int64_t{1}}, {"scale", 1.0}});
  }
  addPlugin(samples, "ShortTimeFourier", {{{2, 9}}, {{4}}},
            {{"length", int64_t{4}}, {"hop", int64_t{2}}, {"one_sided", true}, {"scale", 1.0}});
  addPlugin(
      samples, "InverseShortTimeFourier", {{{2, 3, 3}}, {{2, 3, 3}}, {{4}}},
      {{"length", int64_t{4}}, {"hop", int64_t{2}}, {"scale", 0.25}, {"trim", int64_t{1}}, {"samples", int64_t{-1}}});
  addPlugin(samples, "GroupedProduct", {{{6, 4}}, {{2, 4, 3}}, {{2}, DType::kInt64}}, {});
  addPlugin(samples, "NonZero", {{{3, 4}}}, {{"by_axis", false}, {"counted", Ints{0}}});
  addPlugin(samples, "MaskedRows", {{{3, 4}}, {{3}, DType::kBool}}, {{"counted", Ints{0}}});
  addPlugin(samples, "Unique", {{{6}}}, {{"consecutive", false}, {"counted", Ints{0, 2}}});
  addPlugin(samples, "Suppression", {{{3, 4}}, {{3}}}, {{"iou_threshold", 0.5}, {"counted", Ints{0}}});
}

// The samples that may have an activation of their own, with each.
void addFused(std::vector<Sample>& samples) {
  std::vector<Sample> fused;
  for (const Sample& sample : samples) {
    const bool is_fusible = sample.type == LayerType::kCONVOLUTION || sample.type == LayerType::kDECONVOLUTION ||
                            sample.type == LayerType::kMATRIX_MULTIPLY || sample.type == LayerType::kELEMENTWISE ||
                            sample.type == LayerType::kNORMALIZATION ||
                            sample.type == LayerType::kQUANTIZED_CONVOLUTION ||
                            sample.type == LayerType::kQUANTIZED_MATRIX_MULTIPLY;
    for (const Operation& activation : is_fusible ? activations() : std::span<const Operation>()) {
      fused.push_back(sample);
      fused.back().attributes.emplace_back("activation", std::string(activation.name));
    }
  }
  samples.insert(samples.end(), fused.begin(), fused.end());
}

std::vector<Sample> samples() {
  plugin::registerBuiltinPlugins();
  std::vector<Sample> all;
  addConvolutions(all);
  addPooling(all);
  addPointwise(all);
  addMovement(all);
  addReductions(all);
  addOthers(all);
  addPlugins(all);
  addFused(all);
  return all;
}

std::string lineOf(const std::string& name, const std::vector<std::string>& cells) {
  std::string line = name + std::string(34 - name.size(), ' ');
  for (const std::string& cell : cells) {
    line += " " + cell + std::string(8 - cell.size(), ' ');
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

// Samples of one name share a row, which is "host" where one of them runs there.
std::string table() {
  std::string reason;
  const kernels::Backend* const backend = kernels::findBackend("cuda", reason);
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> rows;
  for (const Sample& sample : samples()) {
    auto& row = rows[sample.name];
    if (row.empty()) {
      names.push_back(sample.name);
      row.assign(kColumns.size(), "-");
    }
    for (size_t i = 0; i < kColumns.size(); ++i) {
      const std::string cell = cellOf(sample, kColumns[i], *backend);
      const bool says_more = cell == "host" || row[i] == "-";
      row[i] = says_more ? cell : row[i];
    }
  }
  std::vector<std::string> titles;
  for (const DType dtype : kColumns) {
    titles.emplace_back(toString(dtype));
  }
  std::string text = lineOf("layer", titles);
  for (const std::string& name : names) {
    text += lineOf(name, rows[name]);
  }
  return text;
}

constexpr const char* kTable = R"(
layer                              float32  float64  float16  bfloat16 int8     int16    int32    int64    uint8    bool
convolution                        gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
deconvolution                      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
quantized_convolution              -        -        -        -        gpu      -        -        -        gpu      -
pooling, max                       gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
adaptive_pooling, max              gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
pooling, max with places           gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
adaptive_pooling, max with places  gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
pooling, average                   gpu      gpu      gpu      gpu      -        -        -        gpu      -        -
adaptive_pooling, average          gpu      gpu      gpu      gpu      -        -        -        -        -        -
activation                         gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
unary                              gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
elementwise                        gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
parametric_relu                    gpu      gpu      gpu      gpu      -        -        -        -        -        -
select                             gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
cast                               gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
quantize                           gpu      -        -        -        -        -        -        -        -        -
dequantize                         -        -        -        -        gpu      -        -        -        gpu      -
shuffle                            gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
slice                              gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
expand                             gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
concatenation                      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
identity                           gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
reformat                           gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
gather                             gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
scatter                            gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
padding                            gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
fill                               gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
reduce                             gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
cumulative                         gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
softmax                            gpu      gpu      gpu      gpu      -        -        -        -        -        -
topk, ties first                   gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
topk, ties sort                    gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
topk, ties topk                    gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
topk, ties kthvalue                gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
normalization                      gpu      gpu      gpu      gpu      -        -        -        -        -        -
matrix_multiply                    gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      -
quantized_matrix_multiply          -        -        -        -        gpu      -        -        -        gpu      -
resize                             gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
grid_sample                        gpu      gpu      gpu      gpu      -        -        -        -        -        -
recurrent                          gpu      gpu      gpu      gpu      -        -        -        -        -        -
plugin Attention                   gpu      -        gpu      gpu      -        -        -        -        -        -
plugin GPTAttention                gpu      -        gpu      gpu      -        -        -        -        -        -
plugin PoolRegions                 gpu      gpu      gpu      -        -        -        -        -        -        -
plugin DeformedColumns             gpu      gpu      gpu      -        -        -        -        -        -        -
plugin AntialiasedResize           gpu      gpu      -        -        -        -        -        -        gpu      -
plugin Search                      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
plugin Fourier                     gpu      gpu      -        -        -        -        -        -        -        -
plugin ShortTimeFourier            gpu      gpu      -        -        -        -        -        -        -        -
plugin InverseShortTimeFourier     gpu      gpu      -        -        -        -        -        -        -        -
plugin GroupedProduct              gpu      gpu      -        -        -        -        -        -        -        -
plugin NonZero                     gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
plugin MaskedRows                  gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
plugin Unique                      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu      gpu
plugin Suppression                 gpu      gpu      gpu      -        -        -        -        -        -        -
)";

TEST(NativeLayers, AreThoseOfTheTable) {
  EXPECT_EQ("\n" + table(), kTable);
}

kernels::CreateResult refuses(const kernels::Problem&) {
  return Refusal{"dtype", "takes no such dtype"};
}
kernels::CreateResult isOfAnotherPlugin(const kernels::Problem&) {
  return Refusal{"plugin", "is of another plugin"};
}

// A backend whose families are these.
std::optional<Refusal> refusalOf(LayerType type, std::vector<kernels::Implementation> implementations) {
  static std::vector<kernels::Family> families;
  Network network;
  Tensor& in = *network.addInput("in", DType::kFloat32, {2});
  const Layer& layer = *network.addLayer(type, {&in}, {});
  families = {{layer.info().name, std::move(implementations)}};
  kernels::Backend backend = {};
  backend.families = []() -> const std::vector<kernels::Family>& { return families; };
  return builder::refusalOfDevice(layer, backend);
}

TEST(RefusalOfDevice, IsThatOfTheKernelThatTakesMost) {
  const kernels::Implementation host = {"host", refuses};
  const std::optional<Refusal> refusal = refusalOf(LayerType::kIDENTITY, {{"copy", refuses}, host});
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code, "dtype");
  EXPECT_EQ(refusal->reason, "takes no such dtype");
  EXPECT_EQ(refusalOf(LayerType::kIDENTITY, {host})->code, "family");
  EXPECT_FALSE(refusalOf(LayerType::kIDENTITY, {{"copy", isOfAnotherPlugin}, {"reference", refuses}}).has_value())
      << "nothing there runs on the host";
}

TEST(RefusalOfDevice, SaysIfThePluginIsKnown) {
  const kernels::Implementation host = {"host", refuses}, other = {"other", isOfAnotherPlugin};
  EXPECT_EQ(refusalOf(LayerType::kIDENTITY, {other, other, host})->code, "plugin");
  EXPECT_EQ(refusalOf(LayerType::kIDENTITY, {other, {"own", refuses}, other, host})->code, "dtype");
}

}  // namespace
}  // namespace torchtrt::network
