#include "lowering/pass.h"

namespace torchtrt::lowering {

using torch::jit::Block;
using torch::jit::Node;

void forEachNode(Block* block, const std::function<void(Node*)>& visit) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* node = *it++;
    for (Block* inner : node->blocks()) {
      forEachNode(inner, visit);
    }
    visit(node);
  }
}

void inlineBlock(Node* node, Block* block) {
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    Node* inner = *it++;
    inner->moveBefore(node);
  }
  for (size_t i = 0; i < node->outputs().size(); ++i) {
    node->outputs()[i]->replaceAllUsesWith(block->outputs()[i]);
  }
}

}  // namespace torchtrt::lowering
