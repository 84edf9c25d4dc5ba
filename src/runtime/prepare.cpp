#include "torchtrt/prepare.h"

#include <algorithm>

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "runtime/engine_calls.h"
#include "runtime/preparation.h"
#include "runtime/rehearsal.h"
#include "runtime/warm_up.h"

namespace torchtrt::runtime {

namespace {

bool callsEngines(const torch::jit::Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [](const torch::jit::Node* node) {
    return isEngineCall(*node) || isUpdatingCall(*node) ||
           std::any_of(node->blocks().begin(), node->blocks().end(),
                       [](const torch::jit::Block* inner) { return callsEngines(*inner); });
  });
}

// True if watching a call teaches nothing: the graph only calls engines, so there is no fusion, no derivative and no
// shape to learn.
bool onlyCallsEngines(const torch::jit::Graph& graph) {
  bool calls = false;
  for (const torch::jit::Node* node : graph.nodes()) {
    if (!isEngineCall(*node) && !onlyGathers(*node)) {
      return false;
    }
    calls = calls || isEngineCall(*node);
  }
  return calls;
}

}  // namespace

Preparation prepareModule(const torch::jit::Module& module) {
  Preparation done;
  if (!torch::jit::IsNewExecutorEnabled()) {
    return done;  // the old executor plans by the arguments of a call
  }
  const torch::jit::GraphOptimizerEnabledGuard optimize(true);
  bool watches = false;
  for (torch::jit::Function* method : module.type()->methods()) {
    torch::jit::GraphFunction* function = torch::jit::tryToGraphFunction(*method);
    if (function == nullptr) {
      continue;
    }
    if (onlyCallsEngines(*function->graph())) {
      torch::jit::Stack no_arguments;
      function->get_executor().getPlanFor(no_arguments, /*remaining_bailout_depth=*/0);  // without watching a call
      std::vector<at::Tensor> arguments = rehearse(module, torch::jit::Method(module._ivalue(), function));
      if (method->name() == "forward") {
        done.arguments = std::move(arguments);
      }
      ++done.methods;
    } else {
      watches = true;
      if (callsEngines(*function->graph()->block())) {
        torch::jit::Stack no_arguments;
        function->get_executor().getPlanFor(no_arguments);  // the plan that watches
      }
    }
  }
  if (watches) {
    warmInterpreter();  // for nobody else: its tables are 3 MB
  }
  return done;
}

int64_t prepare(const torch::jit::Module& module) {
  return prepareModule(module).methods;
}

}  // namespace torchtrt::runtime
