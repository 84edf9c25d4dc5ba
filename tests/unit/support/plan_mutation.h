// Damages plan bytes at random and loads and runs the result: the outcome has to be an EngineError or the answer of the
// undamaged plan. A plan that wants much memory is loaded, and not called. With `mend` the checksum is made right
// again, as an attacker would, so that the damage reaches the checks behind it; the answer may then be another one.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "support/counted_plan.h"
#include "support/engine_call.h"
#include "support/plan_checksum.h"
#include "support/plan_maker.h"
#include "support/plan_trial.h"

namespace torchtrt::testing {

// Layers of every group of rules, a symbol, a view and a weight, in a few hundred bytes.
inline std::string fuzzedPlan() {
  using Ints = std::vector<int64_t>;
  PlanMaker make("fuzzed");
  const plan::Register n = make.symbol("n", 1, 2, 4);
  const plan::Register three = make.number(3);
  const plan::Register four = make.number(4);
  const plan::Register two = make.number(2);
  const int32_t x = make.input("x", {n, two, four, four});
  const int32_t kernel = make.floats("k", {2, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8});
  const Ints ones = {1, 1};
  const Ints zeros = {0, 0};
  const int32_t conv =
      make.step("convolution", {x, kernel}, {n, two, three, three},
                {{"stride", ones}, {"pre_padding", zeros}, {"post_padding", zeros}, {"dilation", ones}});
  make.at(conv).order = {0, 2, 3, 1};
  const int32_t pool = make.step("pooling", {conv}, {n, two, two, two},
                                 {{"op", std::string("max")},
                                  {"window", Ints{2, 2}},
                                  {"stride", ones},
                                  {"pre_padding", zeros},
                                  {"post_padding", zeros},
                                  {"dilation", ones}});
  const plan::Register eight = make.number(8);
  const int32_t flat = make.view("flat", pool, {n, eight});
  const int32_t matrix = make.floats("m", {8, 3}, std::vector<float>(24, 0.5F));
  const int32_t scores = make.step("matrix_multiply", {flat, matrix}, {n, three});
  const int32_t soft = make.step("softmax", {scores}, {n, three}, {{"axis", int64_t{1}}});
  const int32_t cut = make.step("slice", {soft}, {n, two}, {{"stride", ones}});
  make.lastStep().dims = {{"start", {make.number(0), make.number(1)}}, {"size", {n, two}}};
  const int32_t sum =
      make.step("reduce", {cut}, {n}, {{"op", std::string("sum")}, {"axes", Ints{1}}, {"keep_dims", false}});
  const int32_t both =
      make.step("concatenation", {sum, sum}, {make.emit({plan::Op::kMul, two, n, 0})}, {{"axis", int64_t{0}}});
  make.output("y", both);
  make.output("scores", scores);
  return plan::serialize(make.plan());
}

// Outputs that show their length when they have been computed.
inline std::string fuzzedCountedPlan() {
  PlanMaker make("counted");
  const plan::Register n = make.symbol("n", 1, 2, 4);
  const plan::Register all = make.emit({plan::Op::kMul, n, make.number(32), 0});
  const int32_t x = make.input("x", {n, make.number(2), make.number(4), make.number(4)});
  const int32_t flat = make.view("flat", make.activation("relu", x), {all});
  const Places places = addPlaces(make, flat, all);
  make.output("places", places.places);
  make.output("count", places.count);
  make.output("again", places.places);
  return plan::serialize(make.plan());
}

// Steps of integers: made, convolved, multiplied and read back.
inline std::string fuzzedQuantizedPlan() {
  using Ints = std::vector<int64_t>;
  PlanMaker make("quantized");
  const plan::Register n = make.symbol("n", 1, 2, 4);
  const plan::Register two = make.number(2);
  const plan::Register three = make.number(3);
  const plan::Register four = make.number(4);
  const int32_t x = make.input("x", {n, two, four, four});
  const int32_t steps = make.step(
      "quantize", {x}, {n, two, four, four},
      {{"to", DType::kUInt8}, {"scale", 0.5}, {"zero_point", int64_t{3}}, {"low", int64_t{0}}, {"high", int64_t{255}}},
      DType::kUInt8);
  const int32_t kernel =
      make.weight<int8_t>("k", {2, 2, 2, 2}, {1, -2, 3, -4, 5, -6, 7, -8, 1, 2, 3, 4, 5, 6, 7, 8}, DType::kInt8);
  const int32_t scale = make.floats("s", {2}, {0.25F, 0.125F});
  const int32_t product = make.step("quantized_convolution", {steps, kernel, scale, scale, steps}, {n, two, four, four},
                                    {{"stride", Ints{1, 1}},
                                     {"pre_padding", Ints{1, 1}},
                                     {"post_padding", Ints{0, 0}},
                                     {"dilation", Ints{1, 1}},
                                     {"zero_point", int64_t{3}},
                                     {"residual_scale", 0.5},
                                     {"residual_zero_point", int64_t{3}},
                                     {"to", DType::kInt8},
                                     {"output_scale", 0.75},
                                     {"low", int64_t{-127}},
                                     {"high", int64_t{127}},
                                     {"activation", std::string("relu")}},
                                    DType::kInt8);
  const int32_t flat = make.view("flat", product, {n, make.number(32)});
  const int32_t matrix = make.weight<int8_t>("m", {32, 3}, std::vector<int8_t>(96, 3), DType::kInt8);
  const int32_t scales = make.floats("t", {3}, {1, 2, 3});
  const int32_t scores =
      make.step("quantized_matrix_multiply", {flat, matrix, scales}, {n, three}, {{"to", DType::kFloat32}});
  make.output("scores", scores);
  make.output("y", make.step("dequantize", {product}, {n, two, four, four}, {{"scale", 0.75}}));
  return plan::serialize(make.plan());
}

// Plugins whose operands are as large as their fields say.
inline std::string fuzzedPluginPlan() {
  PlanMaker make("plugins");
  const plan::Register n = make.symbol("n", 1, 2, 4);
  const plan::Register one = make.number(1);
  const plan::Register two = make.number(2);
  const plan::Register three = make.number(3);
  const plan::Register four = make.number(4);
  const plan::Register eight = make.number(8);
  const auto plugin = [&](const char* home, const char* type, const std::vector<int32_t>& inputs,
                          const PlanMaker::Registers& dims,
                          const std::vector<std::pair<const char*, AttributeValue>>& fields) {
    const int32_t output =
        make.step("plugin_v2", inputs, dims,
                  {{"namespace", std::string(home)}, {"type", std::string(type)}, {"version", std::string("1")}});
    for (const auto& [name, value] : fields) {
      make.lastStep().attributes.set(name, value);
    }
    return output;
  };
  const int32_t x = make.input("x", {n, two, four, four});
  const int32_t qkv = make.view("qkv", x, {n, two, make.number(16)});
  const int32_t lengths = make.weight<int64_t>("lengths", {2}, {2, 1}, DType::kInt64);
  const int32_t before = make.weight<int64_t>("before", {2}, {1, 0}, DType::kInt64);
  const int32_t cache = make.floats("cache", {2, 2, 1, 3, 4}, std::vector<float>(48, 0.5F));
  const int32_t bias = make.floats("bias", {16}, std::vector<float>(16, 1.0F));
  const int32_t context =
      plugin("tensorrt_llm", "GPTAttention", {qkv, lengths, before, cache, bias}, {n, two, eight},
             {{"num_heads", int64_t{2}},
              {"num_kv_heads", int64_t{1}},
              {"head_size", int64_t{4}},
              {"rotary_embedding_dim", int64_t{4}},
              {"operands", std::string("qkv,context_lengths,past_lengths,past_key_value,qkv_bias")}});
  const int32_t present = make.tensor("present", {n, two, one, three, four});
  make.lastStep().outputs.push_back(present);
  const int32_t attention =
      plugin("torchtrt", "Attention", {x, x, x}, {n, two, four, four}, {{"scale", 0.125}, {"transpose_k", true}});
  const int32_t regions = make.floats("regions", {2, 5}, {0, 0, 0, 2, 2, 1, 1, 1, 3, 3});
  const int32_t pooled =
      plugin("torchtrt", "PoolRegions", {attention, regions}, {two, two, two, two},
             {{"op", std::string("align")}, {"rows", int64_t{2}}, {"columns", int64_t{2}}, {"spatial_scale", 1.0}});
  make.output("context", context);
  make.output("present", present);
  make.output("pooled", pooled);
  return plan::serialize(make.plan());
}

// A state that comes as [0, 2], in whose place zeros are taken.
inline std::string fuzzedStatePlan() {
  PlanMaker make("state");
  const plan::Register n = make.symbol("n", 1, 2, 4);
  const PlanMaker::Registers dims = {n, make.number(2), make.number(4), make.number(4)};
  const int32_t x = make.input("x", dims);
  const int32_t state = make.input("state", make.dims({2, 4, 4}));
  make.plan().inputs[1].empty_dims = {0, 2};
  const int32_t rows = make.view("rows", state, make.dims({1, 2, 4, 4}));
  make.output("y", make.elementwise("sum", x, rows));
  make.output("state", make.activation("relu", state));
  return plan::serialize(make.plan());
}

class PlanFuzzer {
 public:
  // `state`: of the inputs, what comes behind an image.
  explicit PlanFuzzer(std::string bytes = fuzzedPlan(), const std::vector<HostTensor>& state = {})
      : bytes_(std::move(bytes)), inputs_{HostTensor::counting({2, 2, 4, 4})} {
    inputs_.insert(inputs_.end(), state.begin(), state.end());
    expected_ = run(bytes_).value();
  }

  // "" when all is well, else what happened.
  std::string tryOne(uint64_t seed) {
    std::mt19937_64 random(seed);
    const bool mend = seed % 2 != 0;
    std::string damaged = bytes_;
    if (seed % 5 == 0) {
      damaged.resize(random() % damaged.size());
    }
    const uint64_t flips = damaged.empty() ? 0 : random() % 4 + (damaged.size() == bytes_.size() ? 1 : 0);
    for (uint64_t i = 0; i < flips; ++i) {
      char& byte =
          damaged[mend ? kPlanHeader +
                             random() % (damaged.size() - std::min(kPlanHeader, damaged.size() - 1)) % damaged.size()
                       : random() % damaged.size()];
      byte = random() % 2 == 0 ? static_cast<char>(byte ^ (1 << random() % 8)) : static_cast<char>(random());
    }
    if (mend) {
      mendChecksum(damaged);
    }
    try {
      const std::optional<std::string> got = run(damaged);
      ++(got ? answers_ : large_);
      return mend || got == expected_ ? "" : "another answer";
    } catch (const EngineError&) {
      ++errors_;
      return "";
    } catch (const std::exception& error) {
      return std::string("not an EngineError: ") + error.what();
    }
  }
  int errors() const {
    return errors_;
  }
  int answers() const {
    return answers_;
  }
  int large() const {
    return large_;
  }

 private:
  static constexpr size_t kMostBytes = size_t{1} << 26;  // of the tensors of a plan

  // The outputs' bytes. Nothing for a plan that is too large to call.
  std::optional<std::string> run(const std::string& bytes) const {
    engine::LoadOptions options;
    options.device = testDeviceName();
    const auto engine = engine::Engine::load(bytesOf(bytes), nullptr, {}, options);
    if (tensorBytes(plan::parse(bytesOf(bytes), nullptr), kMostBytes) > kMostBytes) {
      return std::nullopt;
    }
    std::string result;
    for (const KeptOutputs::Output& output : callEngine(*engine, inputs_)) {
      const std::vector<char> values = output.values<char>();
      result.append(values.data(), values.size());
    }
    return result;
  }

  std::string bytes_;
  std::vector<HostTensor> inputs_;
  std::string expected_;
  int errors_ = 0, answers_ = 0, large_ = 0;
};

}  // namespace torchtrt::testing
