#include "compiler/module/plain_run.h"

#include <utility>

#include <ATen/ThreadLocalState.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include "base/checkpoint.h"
#include "lowering/call_stacks.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Stack;

const torch::jit::RegisterOperators registered({torch::jit::Operator(
    "torchtrt::checkpoint() -> ()", [](Stack&) { checkpoint(); }, c10::AliasAnalysisKind::CONSERVATIVE)});

void addCheckpoints(torch::jit::Block& block) {
  static const c10::Symbol kCheckpoint = c10::Symbol::fromQualString("torchtrt::checkpoint");
  for (Node* node : block.nodes()) {
    if (node->kind() != torch::jit::prim::Constant) {
      node->owningGraph()->create(kCheckpoint, 0)->insertBefore(node);
    }
    for (torch::jit::Block* inner : node->blocks()) {
      addCheckpoints(*inner);
    }
  }
}

torch::jit::Code codeOf(const torch::jit::Graph& graph, const std::string& name) {
  const std::shared_ptr<torch::jit::Graph> copy = const_cast<torch::jit::Graph&>(graph).copy();
  lowering::ownCallStacks(*copy->block());  // libtorch reads them to say where a run fails
  addCheckpoints(*copy->block());
  return torch::jit::Code(copy, name);
}

// Runs the code and restores thread-local state: the interpreter does not leave what an interrupted run has entered,
// such as no_grad.
Stack runCode(const torch::jit::Code& code, Stack stack) {
  const at::ThreadLocalStateGuard keep_state{at::ThreadLocalState()};
  torch::jit::InterpreterState(code).run(stack);
  return stack;
}

}  // namespace

Stack interpret(const std::shared_ptr<torch::jit::Graph>& graph, Stack inputs) {
  return runCode(codeOf(*graph, "expected"), std::move(inputs));
}

// The graph that calls of the method begin with: its callees are in it.
PlainMethod::PlainMethod(const torch::jit::Module& module, const std::string& method)
    : method_(module.get_method(method)),
      code_(codeOf(*torch::jit::toGraphFunction(method_.function()).optimized_graph(), method)) {}

IValue PlainMethod::operator()(std::vector<IValue> arguments) const {
  arguments.insert(arguments.begin(), method_.owner()._ivalue());
  method_.function().getSchema().checkAndNormalizeInputs(arguments);
  return runCode(code_, std::move(arguments)).front();
}

}  // namespace torchtrt::compiler
