// The plugins of attention. cpu/attention/attention.h says what torchtrt::Attention computes.
#pragma once

#include <optional>

#include "kernels/kernel.h"

namespace torchtrt::cuda {

// Runs on tensor cores, for few queries and keys of 16 bits.
kernels::CreateResult createShortAttention(const kernels::Problem& problem);
std::optional<Refusal> leaveLongAttention(const kernels::Problem& problem);
// Runs on cuDNN, if the library is there: float16 and bfloat16, without masks.
kernels::CreateResult createCudnnAttention(const kernels::Problem& problem);
kernels::CreateResult createAttention(const kernels::Problem& problem);
// The plugin tensorrt_llm::GPTAttention (docs/gpt_attention.md).
kernels::CreateResult createGptAttention(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
