#include "kernels/attention/gpt_fields.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace torchtrt::kernels::attention {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;  // of a field: what is computed of several cannot overflow

constexpr const char* kOperands[] = {"qkv", "context_lengths", "past_lengths", "past_key_value", "qkv_bias"};

[[noreturn]] void fail(const std::string& problem) {
  throw EngineError(ErrorCode::kPlugin, "GPTAttention: " + problem, {},
                    "docs/gpt_attention.md lists fields and operands");
}

void check(bool holds, const std::string& problem) {
  if (!holds) {
    fail(problem);
  }
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    words.push_back(word);
  }
  return words;
}

bool isLengths(const std::string& operand) {
  return operand == "context_lengths" || operand == "past_lengths";
}

}  // namespace

GptFields GptFields::of(const Attributes& attributes) {
  GptFields fields;
  check(attributes.has("num_heads") && attributes.has("head_size"), "fields num_heads and head_size are needed");
  fields.num_heads = attributes.getInt("num_heads");
  fields.num_kv_heads = attributes.getInt("num_kv_heads", fields.num_heads);
  fields.head_size = attributes.getInt("head_size");
  fields.q_scaling = attributes.getDouble("q_scaling", 1.0);
  const std::string mask = attributes.getString("mask_type", "causal");
  fields.causal = mask == "causal";
  fields.rotary_dim = attributes.getInt("rotary_embedding_dim", 0);
  fields.rotary_base = attributes.getDouble("rotary_embedding_base", 10000.0);
  fields.rotary_interleaved = attributes.getBool("rotary_interleaved", false);
  fields.cache_capacity = attributes.getInt("cache_capacity", 0);
  fields.operands = split(attributes.getString("operands", "qkv"));

  const auto number = [](const char* name, int64_t value) {
    return std::string(name) + " is " + std::to_string(value);
  };
  check(fields.num_heads > 0 && fields.head_size > 0, "num_heads and head_size are positive, got " +
                                                          std::to_string(fields.num_heads) + " and " +
                                                          std::to_string(fields.head_size));
  for (const auto& [name, value] : {std::pair("num_heads", fields.num_heads),
                                    {"head_size", fields.head_size},
                                    {"cache_capacity", fields.cache_capacity}}) {
    check(value <= kMost, number(name, value) + ", expected at most " + std::to_string(kMost));
  }
  check(fields.num_kv_heads > 0 && fields.num_heads % fields.num_kv_heads == 0,
        number("num_kv_heads", fields.num_kv_heads) + ", expected a divisor of num_heads");
  check(mask == "causal" || mask == "padding", "mask_type is '" + mask + "', expected causal or padding");
  check(fields.q_scaling > 0, "q_scaling is " + std::to_string(fields.q_scaling) + ", expected a positive number");
  check(fields.rotary_dim >= 0 && fields.rotary_dim <= fields.head_size && fields.rotary_dim % 2 == 0,
        number("rotary_embedding_dim", fields.rotary_dim) + ", expected an even number up to head_size");
  check(fields.rotary_base > 0, "rotary_embedding_base is not positive");
  check(fields.cache_capacity >= 0, number("cache_capacity", fields.cache_capacity) + ", expected 0 or more");
  check(!fields.operands.empty() && fields.operands[0] == "qkv", "the first operand is qkv");
  for (const std::string& operand : fields.operands) {
    check(std::find(std::begin(kOperands), std::end(kOperands), operand) != std::end(kOperands),
          "there is no operand '" + operand + "'");
    check(std::count(fields.operands.begin(), fields.operands.end(), operand) == 1,
          "operand " + operand + " is given twice");
  }
  check(!fields.has("past_lengths") || fields.has("past_key_value"), "past_lengths without past_key_value");
  check(!fields.has("past_key_value") || fields.has("past_lengths"), "past_key_value without past_lengths");
  check(!fields.has("past_key_value") || fields.cache_capacity == 0,
        "cache_capacity and past_key_value exclude each other");
  return fields;
}

double GptFields::scale() const {
  return 1.0 / (q_scaling * std::sqrt(static_cast<double>(head_size)));
}

int GptFields::indexOf(std::string_view operand) const {
  const auto found = std::find(operands.begin(), operands.end(), operand);
  return found == operands.end() ? -1 : static_cast<int>(found - operands.begin());
}

bool GptFields::has(std::string_view operand) const {
  return indexOf(operand) >= 0;
}

const plugin::InputView* GptFields::find(std::span<const plugin::InputView> inputs, std::string_view operand) const {
  const int index = indexOf(operand);
  return index < 0 ? nullptr : &inputs[static_cast<size_t>(index)];
}

bool GptFields::supports(std::span<const DType> inputs) const {
  if (inputs.size() != operands.size() || !isFloating(inputs[0]) || inputs[0] == DType::kFloat64) {
    return false;
  }
  for (size_t i = 1; i < inputs.size(); ++i) {
    const bool fits =
        isLengths(operands[i]) ? inputs[i] == DType::kInt32 || inputs[i] == DType::kInt64 : inputs[i] == inputs[0];
    if (!fits) {
      return false;
    }
  }
  return true;
}

std::vector<TensorType> GptFields::inferOutputs(std::span<const TensorType> inputs) const {
  check(inputs.size() == operands.size(),
        "expected " + std::to_string(operands.size()) + " operands, got " + std::to_string(inputs.size()));
  const Dims& qkv = inputs[0].dims;
  check(qkv.rank() == 3 && qkv[2] == Dim(qkvSize()), "expected qkv of [batch, tokens, " + std::to_string(qkvSize()) +
                                                         "] or [1, all tokens, " + std::to_string(qkvSize()) +
                                                         "], got " + qkv.toString());
  const int lengths = indexOf("context_lengths");
  Dim batch = qkv[0];
  if (lengths >= 0) {
    const Dims& dims = inputs[static_cast<size_t>(lengths)].dims;
    check(dims.rank() == 1, "expected context_lengths of [batch], got " + dims.toString());
    check(qkv[0] == Dim(1) || qkv[0] == dims[0],
          "qkv " + qkv.toString() + " is neither packed nor has it the batch of context_lengths " + dims.toString());
    batch = dims[0];
  }
  const auto expect = [&](const char* operand, const Dims& expected) {
    const int index = indexOf(operand);
    const Dims* got = index < 0 ? nullptr : &inputs[static_cast<size_t>(index)].dims;
    check(got == nullptr || *got == expected, "expected " + std::string(operand) + " of " + expected.toString() +
                                                  ", got " + (got == nullptr ? "" : got->toString()));
  };
  expect("past_lengths", Dims({batch}));
  expect("qkv_bias", Dims({Dim(qkvSize())}));
  std::vector<TensorType> outputs = {{inputs[0].dtype, Dims({qkv[0], qkv[1], Dim(contextSize())})}};
  if (hasCache()) {
    const int past = indexOf("past_key_value");
    const Dims* given = past < 0 ? nullptr : &inputs[static_cast<size_t>(past)].dims;
    const Dim capacity = given == nullptr || given->rank() != 5 ? Dim(cache_capacity) : (*given)[3];
    const Dims cache({batch, Dim(2), Dim(num_kv_heads), capacity, Dim(head_size)});
    expect("past_key_value", cache);
    outputs.push_back({inputs[0].dtype, cache});
  }
  return outputs;
}

}  // namespace torchtrt::kernels::attention
