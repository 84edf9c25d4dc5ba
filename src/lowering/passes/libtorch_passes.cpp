// Passes that are libtorch's own, under our names. Each says whether it changed the graph by comparing its text, since
// most of libtorch's do not say.
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inline_fork_wait.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/loop_unrolling.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/passes/shape_analysis.h>

#include "lowering/passes/passes.h"

namespace torchtrt::lowering {
namespace {

template <typename Function>
bool changes(const GraphPtr& graph, const Function& pass) {
  const std::string before = graph->toString(false);
  pass();
  return graph->toString(false) != before;
}

}  // namespace

bool inlineCalls(const GraphPtr& graph) {
  return changes(graph, [&] {
    torch::jit::Inline(*graph);
    torch::jit::InlineForkWait(graph);
  });
}

bool eraseTracedShapes(const GraphPtr& graph) {
  return changes(graph, [&] { torch::jit::EraseShapeInformation(graph); });
}

bool foldConstants(const GraphPtr& graph) {
  return changes(graph, [&] {
    GraphPtr mutable_graph = graph;
    torch::jit::ConstantPropagation(mutable_graph);
  });
}

bool unrollLoops(const GraphPtr& graph) {
  return changes(graph, [&] {
    GraphPtr mutable_graph = graph;
    torch::jit::UnrollConstantLoops(mutable_graph);
  });
}

bool lowerTuples(const GraphPtr& graph) {
  return changes(graph, [&] { torch::jit::LowerSimpleTuples(graph); });
}

bool simplify(const GraphPtr& graph) {
  return changes(graph, [&] { torch::jit::PeepholeOptimize(graph, /*disable_shape_peepholes=*/true); });
}

bool eliminateDeadCode(const GraphPtr& graph) {
  return changes(graph, [&] { torch::jit::EliminateDeadCode(graph); });
}

}  // namespace torchtrt::lowering
