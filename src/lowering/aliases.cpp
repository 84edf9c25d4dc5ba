#include "lowering/aliases.h"

#include <utility>
#include <vector>

#include <torch/script.h>

#include "lowering/pass.h"

namespace torchtrt::lowering {

namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

// While it lives, what a loop's body gives to the next trip is "that, or what this trip was given", which the analysis
// then finds for the loop's results.
class LoopsThatMayNotRun {
 public:
  explicit LoopsThatMayNotRun(Graph& graph) : graph_(graph) {
    add(graph.block());
  }
  ~LoopsThatMayNotRun() {
    for (auto added = added_.rbegin(); added != added_.rend(); ++added) {
      added->body->replaceOutput(added->output, added->given);
      added->branch->destroy();
      added->condition->destroy();
    }
  }
  LoopsThatMayNotRun(const LoopsThatMayNotRun&) = delete;
  LoopsThatMayNotRun& operator=(const LoopsThatMayNotRun&) = delete;

 private:
  struct Added {
    Block* body;
    size_t output;
    Value* given;
    Node* condition;
    Node* branch;
  };

  void add(Block* block) {
    for (Node* node : block->nodes()) {
      for (Block* inner : node->blocks()) {
        add(inner);
      }
      if (node->kind() == prim::Loop) {
        addTo(*node->blocks().at(0));
      }
    }
  }

  // A body takes the trip's number and the carried values, and gives whether to go on and the carried values.
  void addTo(Block& body) {
    for (size_t i = 1; i < body.outputs().size(); ++i) {
      Value* given = body.outputs()[i];
      Value* carried = body.inputs()[i];
      if (given == carried || !isMutable(*given->type())) {
        continue;
      }
      torch::jit::WithInsertPoint guard(body.return_node());
      Node* condition = graph_.insertConstant(true)->node();
      Node* branch = graph_.insertNode(graph_.create(prim::If, {condition->output()}, 1));
      branch->addBlock()->registerOutput(given);
      branch->addBlock()->registerOutput(carried);
      branch->output()->setType(given->type());
      body.replaceOutput(i, branch->output());
      added_.push_back({&body, i, given, condition, branch});
    }
  }

  Graph& graph_;
  std::vector<Added> added_;
};

}  // namespace

torch::jit::AliasDb aliasesOf(const std::shared_ptr<Graph>& graph, bool is_frozen) {
  const LoopsThatMayNotRun loops(*graph);
  return torch::jit::AliasDb(graph, is_frozen);
}

}  // namespace torchtrt::lowering
