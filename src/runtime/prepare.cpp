#include "torchtrt/prepare.h"

#include <algorithm>

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include "runtime/execute.h"
#include "runtime/preparation.h"
#include "runtime/rehearsal.h"
#include "runtime/warm_up.h"
#include "runtime/weight_set.h"

namespace torchtrt::runtime {

namespace {

const c10::Symbol& executeEngineSymbol() {
  static const c10::Symbol symbol = c10::Symbol::fromQualString(kExecuteEngine);
  return symbol;
}

bool callsEngines(const torch::jit::Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [](const torch::jit::Node* node) {
    return node->kind() == executeEngineSymbol() ||
           std::any_of(node->blocks().begin(), node->blocks().end(),
                       [](const torch::jit::Block* inner) { return callsEngines(*inner); });
  });
}

// True if watching a call teaches nothing: the graph only calls engines, so there is no fusion, no derivative and no
// shape to learn.
bool onlyCallsEngines(const torch::jit::Graph& graph) {
  namespace prim = torch::jit::prim;
  bool calls = false;
  for (const torch::jit::Node* node : graph.nodes()) {
    constexpr c10::Symbol kAround[] = {prim::GetAttr,        prim::Constant,    prim::ListConstruct,
                                       prim::TupleConstruct, prim::TupleUnpack, prim::ListUnpack};
    const bool is_call = node->kind() == executeEngineSymbol();
    if (!is_call && !takesWeights(*node) &&
        std::find(std::begin(kAround), std::end(kAround), node->kind()) == std::end(kAround)) {
      return false;
    }
    calls = calls || is_call;
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
