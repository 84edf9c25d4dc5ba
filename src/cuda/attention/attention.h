// The plugins of attention. cpu/attention/attention.h says what torchtrt::Attention computes.
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

// Runs on cuDNN, if the library is there: float16 and bfloat16, without masks.
kernels::CreateResult createCudnnAttention(const kernels::Problem& problem);
kernels::CreateResult createAttention(const kernels::Problem& problem);
// The plugin tensorrt_llm::GPTAttention (docs/gpt_attention.md).
kernels::CreateResult createGptAttention(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
