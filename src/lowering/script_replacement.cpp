#include "lowering/script_replacement.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/passes/inliner.h>

#include "lowering/graph_walk.h"

namespace torchtrt::lowering {

ScriptReplacement::ScriptReplacement(const std::string& source) {
  torch::jit::CompilationUnit unit;
  unit.define(std::nullopt, source, torch::jit::nativeResolver(), nullptr);
  graph_ = torch::jit::toGraphFunction(*unit.get_functions().front()).graph()->copy();
  torch::jit::Inline(*graph_);
}

void ScriptReplacement::replace(torch::jit::Node* node) const {
  torch::jit::Graph& graph = *node->owningGraph();
  const std::shared_ptr<torch::jit::Graph> copy = graph_->copy();
  forEachNode(copy->block(), [node](torch::jit::Node* inner) {
    inner->copyMetadata(node);
    for (torch::jit::Value* output : inner->outputs()) {
      output->setDebugName("");  // the function's, which nobody knows
    }
  });
  torch::jit::WithInsertPoint guard(node);
  std::vector<torch::jit::Value*> results = torch::jit::insertGraph(graph, *copy, node->inputs());
  if (node->outputs().size() > 1) {
    torch::jit::Node* unpack = graph.insertNode(graph.createTupleUnpack(results.front()));
    results = unpack->outputs().vec();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    torch::jit::Value* output = node->output(i);
    results[i]->setType(output->type());
    if (output->hasDebugName()) {
      results[i]->copyMetadata(output);
    }
    output->replaceAllUsesWith(results[i]);
  }
  node->destroy();
}

}  // namespace torchtrt::lowering
