#include "compiler/checking/held_engine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "builder/builder.h"
#include "compiler/checking/bisection.h"
#include "compiler/checking/validation.h"
#include "compiler/module/placing.h"
#include "compiler/module/plain_run.h"
#include "compiler/reports/segment_report.h"
#include "conversion/conversion.h"
#include "partitioning/roles.h"
#include "runtime/execute.h"

namespace torchtrt::compiler {

namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

// A kept segment gives its outputs as a list.
Node& listOfOutputs(Graph& graph) {
  return *graph.outputs()[0]->node();
}

// The kept graph as a segment's, with constants inside and the engine's inputs alone.
std::shared_ptr<Graph> withConstants(const runtime::KeptSegment& kept, const at::Device& device) {
  std::shared_ptr<Graph> graph = kept.graph()->copy();
  const torch::jit::WithInsertPoint before(*graph->nodes().begin());
  const std::vector<at::Tensor> constants = kept.constants();
  for (size_t i = constants.size(); i-- > 0;) {
    const size_t last = graph->inputs().size() - 1;
    graph->inputs()[last]->replaceAllUsesWith(graph->insertConstant(constants[i].detach().to(device)));
    graph->eraseInput(last);
  }
  graph->eraseInput(0);  // the module
  return graph;
}

bool isUsedAfter(const Value& value, const Node& last) {
  const auto is_after = [&](const torch::jit::Use& use) {
    const Node* user = use.user;
    while (user->owningBlock()->owningNode() != nullptr) {
      user = user->owningBlock()->owningNode();
    }
    return user == &last || user->isAfter(&last);
  };
  return std::any_of(value.uses().begin(), value.uses().end(), is_after);
}

// The first operators as a graph of their own, whose outputs are the tensors that the others or the module need.
std::shared_ptr<Graph> firstOperators(const runtime::KeptSegment& kept, size_t count, const at::Device& device) {
  std::shared_ptr<Graph> graph = withConstants(kept, device);
  const std::vector<const Node*> operators = operatorsOf(*graph);
  Node& end = count < operators.size() ? *const_cast<Node*>(operators[count]) : listOfOutputs(*graph);
  std::vector<Value*> outputs;
  for (Node* node = *graph->nodes().begin(); node != &end; node = node->next()) {
    for (Value* output : node->outputs()) {
      const bool is_made = node->kind() != torch::jit::prim::Constant && partitioning::isTensor(*output);
      if (is_made && isUsedAfter(*output, end)) {
        outputs.push_back(output);
      }
    }
  }
  graph->eraseOutput(0);
  for (Value* output : outputs) {
    graph->registerOutput(output);
  }
  for (bool is_end = false; !is_end;) {
    Node* last = graph->return_node()->prev();
    is_end = last == &end;
    last->destroy();
  }
  return graph;
}

c10::intrusive_ptr<runtime::Engine> engineOf(const Graph& graph, const std::vector<at::Tensor>& inputs,
                                             const at::Device& device) {
  conversion::ConversionRequest request;
  request.name = "operators";
  request.is_whole = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    request.inputs.push_back({"input_" + std::to_string(i), conversion::util::toDType(inputs[i].scalar_type()),
                              conversion::util::toDims(inputs[i].sizes())});
  }
  const auto copies = std::make_shared<runtime::HostCopies>();
  request.host_constant = [copies](const torch::jit::IValue& constant) { return onHost(constant, *copies); };
  return runtime::Engine::fromPlan(builder::optimizeAndBuild(*conversion::convert(*graph.block(), request)),
                                   {device, ""});
}

bool disagrees(const std::shared_ptr<Graph>& graph, std::vector<at::Tensor> inputs, const at::Device& device) {
  if (graph->outputs().empty()) {  // sizes and numbers alone
    return false;
  }
  std::vector<at::Tensor> expected;
  for (const torch::jit::IValue& value : interpret(graph, {inputs.begin(), inputs.end()})) {
    expected.push_back(value.toTensor());
  }
  const std::vector<at::Tensor> got = runtime::runEngine(inputs, *engineOf(*graph, inputs, device));
  return !deviation(expected, got, graph->outputs(), coarsestOf(*graph)).difference.empty();
}

}  // namespace

Verification::Deviation deviationOf(const runtime::Engine& engine, std::vector<at::Tensor> inputs) {
  const std::vector<at::Tensor> got = runtime::runEngine(inputs, engine);
  return runtime::deviationFromPyTorch(engine, inputs, got);
}

std::vector<const Node*> operatorsOf(const Graph& graph) {
  std::vector<const Node*> operators;
  for (const Node* node : graph.nodes()) {
    if (!node->kind().is_prim()) {
      operators.push_back(node);
    }
  }
  return operators;
}

std::string firstDisagreeing(const runtime::KeptSegment& kept, const std::vector<at::Tensor>& inputs) {
  const std::shared_ptr<Graph> graph = kept.graph();
  const std::vector<const Node*> operators = operatorsOf(*graph);
  const at::Device& device = kept.device();
  const auto disagree = [&](size_t count) { return disagrees(firstOperators(kept, count, device), inputs, device); };
  if (operators.empty() || !disagree(operators.size())) {
    return "";
  }
  return describe(*operators[leastFailing(operators.size(), disagree) - 1]);
}

}  // namespace torchtrt::compiler
