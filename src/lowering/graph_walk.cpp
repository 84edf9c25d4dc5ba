#include "lowering/graph_walk.h"

#include <algorithm>

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

bool isInside(const Node& node, const Node& outer) {
  const Node* around = node.owningBlock()->owningNode();
  while (around != nullptr && around != &outer) {
    around = around->owningBlock()->owningNode();
  }
  return around != nullptr;
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

bool computesGradients(torch::jit::Graph& graph) {
  static const auto kGrad = c10::Symbol::fromQualString("aten::grad");
  static const auto kBackward = c10::Symbol::fromQualString("aten::backward");
  bool found = false;
  forEachNode(graph.block(),
              [&](torch::jit::Node* node) { found = found || node->kind() == kGrad || node->kind() == kBackward; });
  return found;
}

bool isMutable(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::TensorType:
    case c10::TypeKind::ListType:
    case c10::TypeKind::DictType:
    case c10::TypeKind::ClassType:
    case c10::TypeKind::AnyType:
      return true;
    case c10::TypeKind::OptionalType:
    case c10::TypeKind::TupleType:
    case c10::TypeKind::FutureType:
    case c10::TypeKind::UnionType: {
      const auto contained = type.containedTypes();
      return std::any_of(contained.begin(), contained.end(),
                         [](const c10::TypePtr& inner) { return isMutable(*inner); });
    }
    default:
      return false;
  }
}

bool isTensor(const torch::jit::Value& value) {
  return value.type()->isSubtypeOf(*c10::TensorType::get());
}

bool holdsTensors(const c10::TypePtr& type) {
  if (type->isSubtypeOf(*c10::TensorType::get())) {
    return true;
  }
  const auto contained = type->containedTypes();
  return std::any_of(contained.begin(), contained.end(), holdsTensors);
}

}  // namespace torchtrt::lowering
