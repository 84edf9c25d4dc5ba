// A lowering pass is a named function over a graph that says if it changed it. The list of them, in order, is
// pipeline.cpp; each lives in a file of its own under passes/.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>

#include "torchtrt/export.h"

namespace torchtrt::lowering {

struct LoweredGraph;
struct LoweringOptions;

// The knowledge of a lowering beside the graph, for the few passes that ask for it.
struct Lowering {
  LoweredGraph& lowered;
  const LoweringOptions& options;
  const torch::jit::Module* module;  // null for a graph without one
  std::string method;
  std::set<std::string> tensors_apart;  // attributes in memory of their own: state_memory.h
};

struct Pass {
  const char* name;                                              // stable: LoweringOptions.disabled_passes goes by it
  const char* meaning;                                           // one line
  bool (*run)(const std::shared_ptr<torch::jit::Graph>& graph);  // null for a pass that a graph alone is too little for
  bool (*run_with)(Lowering& lowering) = nullptr;                // runs in place of `run` where it is given
};

TORCHTRT_API const std::vector<Pass>& pipeline();
TORCHTRT_API std::string pipelineMarkdown();  // the end of docs/passes.md
// Null for a name that no pass has.
TORCHTRT_API const Pass* findPass(const std::string& name);

}  // namespace torchtrt::lowering
