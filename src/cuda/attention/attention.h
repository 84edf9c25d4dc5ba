// The plugin torchtrt::Attention (cpu/attention/attention.h says what it computes).
#pragma once

#include "kernels/kernel.h"

namespace torchtrt::cuda {

kernels::CreateResult createAttention(const kernels::Problem& problem);

}  // namespace torchtrt::cuda
