// The fields of tensorrt_llm::GPTAttention, checked, and what follows from them for its operands.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "torchtrt/export.h"
#include "torchtrt/plugin.h"

namespace torchtrt::kernels::attention {

struct TORCHTRT_API GptFields {
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0;
  int64_t head_size = 0;
  double q_scaling = 1;
  bool causal = true;
  int64_t rotary_dim = 0;
  double rotary_base = 10000;
  bool rotary_interleaved = false;
  int64_t cache_capacity = 0;         // of a cache that is made here; 0: the one given, or none
  std::vector<std::string> operands;  // names, in order; qkv first

  // Throws EngineError(kPlugin) for what is missing or contradictory.
  static GptFields of(const Attributes& fields);

  int64_t qkvSize() const {
    return (num_heads + 2 * num_kv_heads) * head_size;
  }
  int64_t contextSize() const {
    return num_heads * head_size;
  }
  double scale() const;
  int indexOf(std::string_view operand) const;  // -1: not given
  bool has(std::string_view operand) const;
  bool hasCache() const {
    return cache_capacity > 0 || has("past_key_value");
  }
  const plugin::InputView* find(std::span<const plugin::InputView> inputs, std::string_view operand) const;
  bool supports(std::span<const DType> inputs) const;
  std::vector<TensorType> inferOutputs(std::span<const TensorType> inputs) const;
};

}  // namespace torchtrt::kernels::attention
