#include "lowering/verify.h"

#include <exception>

#include "torchtrt/error.h"

namespace torchtrt::lowering {
namespace {

// Every aten node has a schema: a rewrite that made one with wrong operands would otherwise only fail when it is run.
void checkSchemas(const torch::jit::Block& block, const std::string& after) {
  for (const torch::jit::Node* node : block.nodes()) {
    if (node->kind().is_aten() && !node->maybeSchema()) {
      std::ostringstream text;
      node->print(text, 0, nullptr, false);
      throw InternalError("after lowering pass " + after + " a node fits no schema: " + text.str());
    }
    for (const torch::jit::Block* inner : node->blocks()) {
      checkSchemas(*inner, after);
    }
  }
}

}  // namespace

void verify(const torch::jit::Graph& graph, const std::string& after) {
  try {
    graph.lint();
  } catch (const std::exception& error) {
    throw InternalError("after lowering pass " + after + " the graph is malformed: " + error.what());
  }
  checkSchemas(*graph.block(), after);
}

}  // namespace torchtrt::lowering
