// Inputs made up from a specification, for `run` and for the check after a compile. Seeded, so that runs can be
// compared.
#pragma once

#include <vector>

#include <torch/script.h>

#include "torch_tensorrt/torch_tensorrt.h"

namespace torchtrtc {

// One tensor per specification at its optimal shape: normal for floating dtypes, within tensor_domain for the others.
std::vector<torch::jit::IValue> randomInputs(const std::vector<torch_tensorrt::Input>& specs, int64_t seed = 0);

}  // namespace torchtrtc
