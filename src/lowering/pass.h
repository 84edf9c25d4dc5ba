// What a lowering pass is: a named function over a graph that says whether it changed it. The list of them, in order,
// is pipeline.cpp; each lives in a file of its own under passes/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

struct Pass {
  const char* name;     // stable: LoweringOptions.disabled_passes goes by it
  const char* meaning;  // one line
  bool (*run)(const std::shared_ptr<torch::jit::Graph>& graph);
};

TORCHTRT_API const std::vector<Pass>& pipeline();
// Null for a name that no pass has.
TORCHTRT_API const Pass* findPass(const std::string& name);

}  // namespace torchtrt::lowering
