#include "runtime/rehearsal.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/logging.h"
#include "runtime/dtypes.h"
#include "runtime/execute.h"
#include "runtime/recording/recorder.h"
#include "runtime/torch_device.h"
#include "runtime/weight_set.h"

namespace torchtrt::runtime {

namespace {

constexpr size_t kMostBytes = size_t{4} << 20;  // weights, inputs, outputs and workspace of an engine

size_t bytesOf(const std::vector<engine::BindingInfo>& bindings) {
  return std::accumulate(bindings.begin(), bindings.end(), size_t{0}, [](size_t sum, const engine::BindingInfo& info) {
    return sum + static_cast<size_t>(c10::multiply_integers(info.opt)) * sizeOf(info.dtype);
  });
}

// Zeros for all inputs of an engine; none where a call touches much. Nothing large is allocated to find that out.
std::vector<at::Tensor> smallInputs(const Engine& held) {
  const engine::Engine& engine = held.engine();
  const size_t bytes = engine.memoryBytes() + bytesOf(engine.inputs()) + bytesOf(engine.outputs());
  if (bytes > kMostBytes) {
    return {};
  }
  std::vector<at::Tensor> inputs;
  for (const engine::BindingInfo& info : engine.inputs()) {
    inputs.push_back(at::zeros(info.opt, at::TensorOptions().dtype(scalarTypeOf(info.dtype)).device(held.device())));
  }
  return bytes + static_cast<size_t>(workspaceBytes(inputs, held)) > kMostBytes ? std::vector<at::Tensor>() : inputs;
}

// Zeros for every argument except the module, and the engines that the method calls. Both are empty where an argument
// goes elsewhere than to an engine, or where an engine is large.
struct Rehearsal {
  std::vector<at::Tensor> arguments;
  std::vector<c10::intrusive_ptr<Engine>> engines;
};

Rehearsal rehearsalOf(const torch::jit::Module& module, const torch::jit::Graph& graph) {
  std::vector<c10::intrusive_ptr<Engine>> engines;
  std::vector<at::Tensor> arguments(graph.inputs().size() - 1);
  for (const torch::jit::Node* call : graph.nodes()) {
    if (call->kind().is_prim()) {
      continue;  // all but what gathers operands calls an engine
    }
    const torch::jit::Node& list = *call->input(0)->node();
    engines.push_back(engineOf(module, *call->input(1)));
    if (list.kind() != torch::jit::prim::ListConstruct || !engines.back()) {
      return {};
    }
    const std::vector<at::Tensor> inputs = smallInputs(*engines.back());
    if (inputs.size() != list.inputs().size()) {
      return {};
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const torch::jit::Value& operand = *list.inputs()[i];
      if (operand.node() == graph.param_node() && operand.offset() > 0) {
        arguments[operand.offset() - 1] = inputs[i];
      }
    }
  }
  const bool all = std::all_of(arguments.begin(), arguments.end(), [](const at::Tensor& x) { return x.defined(); });
  return all ? Rehearsal{std::move(arguments), std::move(engines)} : Rehearsal();
}

// A division by these zeros, or an index into an empty table, is no fault of the caller: later calls do not report it.
void discardFaults(const Engine& engine) {
  const DeviceScope scope(engine.device());
  engine.engine().discardFaults(scope.stream());
}

}  // namespace

std::vector<at::Tensor> rehearse(const torch::jit::Module& module, const torch::jit::Method& method) {
  try {
    const c10::InferenceMode inference;
    const recording::Pause not_recorded;
    Rehearsal rehearsal = rehearsalOf(module, *method.graph());
    if (!rehearsal.arguments.empty()) {
      torch::jit::Stack stack = {module._ivalue()};
      stack.insert(stack.end(), rehearsal.arguments.begin(), rehearsal.arguments.end());
      method.function().run(stack);
      for (const c10::intrusive_ptr<Engine>& engine : rehearsal.engines) {
        discardFaults(*engine);
      }
    }
    return std::move(rehearsal.arguments);
  } catch (const std::exception& error) {
    TORCHTRT_LOG(kDEBUG,
                 "a method of " << module.type()->annotation_str() << " does not run on zeros: " << error.what());
    return {};
  }
}

}  // namespace torchtrt::runtime
