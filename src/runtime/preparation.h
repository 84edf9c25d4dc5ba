// Does the work of torchtrt/prepare.h and tells its result to callers that go on in another language. Private to this
// folder.
#pragma once

#include <vector>

#include <torch/script.h>

namespace torchtrt::runtime {

struct Preparation {
  int64_t methods = 0;                // planned
  std::vector<at::Tensor> arguments;  // zeros with which `forward` was called; none: it was not
};

Preparation prepareModule(const torch::jit::Module& module);

}  // namespace torchtrt::runtime
