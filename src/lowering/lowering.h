// TorchScript module -> LoweredGraph: one functional graph with constants inlined and a reduced operator set. Nothing
// here knows of networks or engines; what must stay in PyTorch is left as it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <torch/script.h>

#include "lowering/precision_pins.h"
#include "torchtrt/export.h"

namespace torchtrt::lowering {

struct LoweringOptions {
  std::vector<std::string> disabled_passes;  // by name
  std::string dump_after;                    // regex of pass names whose result is logged at kGRAPH
  bool keep_state = false;                   // attributes that methods write stay, where they are else an error
  bool verify = false;                       // lint the graph after every changing pass
  PrecisionPins precision = {};
  // True where the same graph is to come of other weights: two weights that are equal now are not one.
  bool weights_may_change = false;
  // True if the caller asks before a call if the arguments that the method writes to lie apart from all others
  // (LoweredGraph::written_arguments).
  bool arguments_apart = false;
};

struct LoweredGraph {
  std::shared_ptr<torch::jit::Graph>
      graph;                        // inputs are the method's, without self; every parameter is a prim::Constant
  c10::FunctionSchema schema;       // of the original method, without self
  std::string module_name;          // qualified, e.g. "__torch__.LeNet"
  bool has_self = false;            // the first input is the module, for the attributes that the method writes
  bool computes_gradients = false;  // within the method: then it is as it was, except for what is inlined
  std::vector<size_t> pinned;       // how many nodes each pin of the options holds for
  bool is_retargeted = false;       // its devices are others than the method's own
  // Arguments whose writes have become copies at the end: the graph is for calls in which they lie apart.
  std::vector<size_t> written_arguments = {};
};

// The module is copied, never changed. Throws CompileError(kInvalidModule) for a missing method or a module in training
// mode.
TORCHTRT_API LoweredGraph lower(const torch::jit::Module& module, const std::string& method,
                                const LoweringOptions& options = {});
// The same passes over a graph without a module (IR text, script functions).
TORCHTRT_API LoweredGraph lower(const std::shared_ptr<torch::jit::Graph>& graph, const LoweringOptions& options = {});

// True if a method enters an autocast region. libtorch's optimizer turns that into casts, so a run without it has none.
TORCHTRT_API bool entersAutocast(const torch::jit::Module& module, const std::string& method);
// Throws CompileError(kInvalidModule) where the module or a submodule is in training mode.
TORCHTRT_API void checkEvalMode(const torch::jit::Module& module);

}  // namespace torchtrt::lowering
