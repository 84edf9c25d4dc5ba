#include "runtime/warm_up.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/symbolic_script.h>

#include "base/logging.h"
#include "runtime/execute.h"

namespace torchtrt::runtime {

namespace {

// The first time that a process runs a graph with an operator whose derivative libtorch does not know by heart, it
// reads the TorchScript of all it does know, for 35 ms.
void readDerivatives() {
  torch::jit::hasGradientInfoForSchema(c10::Dispatcher::singleton().findSchemaOrThrow(kExecuteEngine, "").schema());
}

// The passes in front of a graph's first and second run fill tables of their own, for another 2 ms. The engine's
// branch is not taken.
void runPasses() {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(R"IR(
graph(%x : Tensor, %engine : __torch__.torch.classes.tensorrt.Engine, %is_called : bool):
  %result : Tensor = prim::If(%is_called)
    block0():
      %inputs : Tensor[] = prim::ListConstruct(%x)
      %outputs : Tensor[] = tensorrt::execute_engine(%inputs, %engine)
      %output : Tensor = prim::ListUnpack(%outputs)
      -> (%output)
    block1():
      -> (%x)
  return (%result))IR",
                      graph.get());
  const torch::jit::GraphOptimizerEnabledGuard optimize(true);  // loading a module switches it off
  torch::jit::GraphExecutor executor(graph, "warm_up");
  for (int run = 0; run < 2; ++run) {
    torch::jit::Stack stack = {at::Tensor(), c10::IValue(), false};
    executor.run(stack);
  }
}

}  // namespace

bool warmInterpreter() {
  static const bool is_warm = [] {
    try {
      readDerivatives();
      runPasses();
      return true;
    } catch (const std::exception& error) {
      TORCHTRT_LOG(kDEBUG, "libtorch's interpreter is not warm: " << error.what());
      return false;
    }
  }();
  return is_warm;
}

}  // namespace torchtrt::runtime
