// tensorrt_llm::GPTAttention on a GPU: as the CPU's, for each of its forms.
#include <gtest/gtest.h>

#include <string>

#include "cuda/against_reference.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::testing {
namespace {

struct Form {
  int64_t heads = 4, kv_heads = 2, size = 8, rotary = 0;
  bool interleaved = false, causal = true, bias = false;
  int64_t capacity = 0;    // of a cache that is given
  int64_t made_cache = 0;  // of one that is made
};

Tensor mixed(DType dtype, const Ints& dims, uint32_t seed) {
  Values values = mixedValues(countOf(dims), dtype, seed);
  for (double& value : values) {
    value *= 0.25;
  }
  return makeTensor(dtype, dims, values);
}

// `lengths` and `pasts` are absent where they are empty.
Case attention(DType dtype, const Form& form, int64_t batch, int64_t tokens, const Values& lengths,
               const Values& pasts = {}) {
  plugin::registerBuiltinPlugins();
  const int64_t width = (form.heads + 2 * form.kv_heads) * form.size;
  const int64_t sequences = lengths.empty() ? batch : static_cast<int64_t>(lengths.size());
  std::string operands = "qkv";
  Case layer = {"plugin_v2",
                makeAttributes({{"namespace", std::string("tensorrt_llm")},
                                {"type", std::string("GPTAttention")},
                                {"num_heads", form.heads},
                                {"num_kv_heads", form.kv_heads},
                                {"head_size", form.size},
                                {"rotary_embedding_dim", form.rotary},
                                {"rotary_interleaved", form.interleaved},
                                {"q_scaling", 1.25},
                                {"cache_capacity", form.made_cache},
                                {"mask_type", std::string(form.causal ? "causal" : "padding")}}),
                {mixed(dtype, {batch, tokens, width}, 1)},
                {{dtype, {batch, tokens, form.heads * form.size}}}};
  if (form.bias) {
    operands += ",qkv_bias";
    layer.inputs.emplace_back(mixed(dtype, {width}, 2));
  }
  if (!lengths.empty()) {
    operands += ",context_lengths";
    layer.inputs.emplace_back(makeTensor(DType::kInt32, {sequences}, lengths));
  }
  const Ints cache = {sequences, 2, form.kv_heads, form.capacity + form.made_cache, form.size};
  if (form.capacity > 0) {
    operands += ",past_key_value,past_lengths";
    layer.inputs.emplace_back(mixed(dtype, cache, 3));
    layer.inputs.emplace_back(makeTensor(DType::kInt64, {sequences}, pasts));
  }
  if (cache[3] > 0) {
    layer.outputs.push_back({dtype, cache});
  }
  layer.attributes.set("operands", operands);
  return layer;
}

TEST(GptAttentionOnDevices, PaddedAndPackedSequences) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (const bool causal : {true, false}) {
      Form form;
      form.causal = causal;
      expectAsOnCpu(attention(dtype, form, 2, 5, {}));
      expectAsOnCpu(attention(dtype, form, 3, 5, {5, 0, 3}));
      expectAsOnCpu(attention(dtype, form, 1, 12, {4, 0, 1, 5}));
    }
  }
}

TEST(GptAttentionOnDevices, MoreThanOneTileOfQueriesKeysAndChannels) {
  Form form = {2, 1, 72, 0};
  expectAsOnCpu(attention(DType::kFloat32, form, 2, 35, {35, 18}));
  form.causal = false;
  expectAsOnCpu(attention(DType::kFloat32, form, 1, 40, {18, 20}));
  form.size = 136;  // read in two pieces
  expectAsOnCpu(attention(DType::kFloat32, form, 1, 20, {20}));
}

TEST(GptAttentionOnDevices, TurnsPairs) {
  for (const bool interleaved : {true, false}) {
    for (const int64_t rotary : {4, 8}) {
      Form form;
      form.rotary = rotary;
      form.interleaved = interleaved;
      form.bias = true;
      expectAsOnCpu(attention(DType::kFloat32, form, 2, 6, {4, 6}));
    }
  }
}

TEST(GptAttentionOnDevices, ReadsAndWritesACache) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    Form form;
    form.rotary = 8;
    form.bias = true;
    form.capacity = 20;
    expectAsOnCpu(attention(dtype, form, 3, 1, {1, 1, 0}, {17, 0, 3}));
    expectAsOnCpu(attention(dtype, form, 1, 9, {3, 2, 4}, {16, 18, 0}));
    form.capacity = 0;
    form.made_cache = 7;
    expectAsOnCpu(attention(dtype, form, 2, 4, {4, 2}));
    expectAsOnCpu(attention(dtype, form, 2, 4, {}));
  }
}

TEST(GptAttentionOnDevices, ReportsLengthsThatDoNotFit) {
  Form form;
  form.capacity = 8;
  const auto fails = [&](const Values& lengths, const Values& pasts, int64_t batch, int64_t tokens) {
    try {
      run(attention(DType::kFloat32, form, batch, tokens, lengths, pasts));
      return false;
    } catch (const EngineError& error) {
      return error.code() == ErrorCode::kIndexOutOfRange;
    }
  };
  EXPECT_FALSE(fails({3, 2}, {5, 0}, 2, 3));
  EXPECT_TRUE(fails({4, 2}, {0, 0}, 2, 3));  // more tokens than rows
  EXPECT_TRUE(fails({-1, 2}, {0, 0}, 2, 3));
  EXPECT_TRUE(fails({3, 2}, {6, 0}, 2, 3));  // more than the cache holds
  EXPECT_TRUE(fails({3, 2}, {0, -1}, 2, 3));
  EXPECT_TRUE(fails({3, 3}, {0, 0}, 1, 5));  // packed: more than all rows
  EXPECT_TRUE(fails({9, 0}, {0, 0}, 1, 9));
}

}  // namespace
}  // namespace torchtrt::kernels::testing
