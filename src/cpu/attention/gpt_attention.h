// The plugin tensorrt_llm::GPTAttention: self-attention over one tensor of queries, keys and values, padded or packed,
// with rotary embedding and a key-value cache. docs/gpt_attention.md documents fields, operands and layouts.
#pragma once

#include <memory>

#include "torchtrt/plugin.h"

namespace torchtrt::kernels::attention {

std::shared_ptr<const plugin::PluginCreator> createGptAttentionCreator();

}  // namespace torchtrt::kernels::attention
