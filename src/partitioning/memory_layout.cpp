#include "partitioning/memory_layout.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <set>
#include <string>

#include "lowering/write_origins.h"
#include "partitioning/roles.h"

namespace torchtrt::partitioning {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

using Kinds = std::set<std::string>;

// Row by row without gaps in PyTorch as in engines, whatever the operands' layouts are.
bool isLaidOutAlike(const Node& node) {
  static const Kinds kinds = {"aten::linear", "aten::embedding", "aten::layer_norm", "aten::zeros",
                              "aten::ones",   "aten::full",      "aten::arange"};
  if (node.kind() == torch::jit::aten::contiguous) {
    return torch::jit::constant_as<int64_t>(node.input(1)) == static_cast<int64_t>(at::MemoryFormat::Contiguous);
  }
  return kinds.count(node.kind().toQualString()) != 0;
}

class LayoutWalk {
 public:
  void start(const Block& block) {
    for (const Node* node : block.nodes()) {
      if (lowering::readsByStrides(*node)) {
        follow(*node->input(0));
      }
      for (const Block* inner : node->blocks()) {
        start(*inner);
      }
    }
  }

  std::unordered_set<const Node*> take() {
    return std::move(deciders_);
  }

 private:
  void follow(const Value& value) {
    const Node* node = value.node();
    if (node->kind() == prim::Param) {
      node = node->owningBlock()->owningNode();
    }
    if (!node || node->kind() == prim::Constant || isLaidOutAlike(*node) || !holdsTensors(value.type()) ||
        !deciders_.insert(node).second) {
      return;
    }
    for (const Value* input : node->inputs()) {
      follow(*input);
    }
    for (const Block* inner : node->blocks()) {
      for (const Value* output : inner->outputs()) {
        follow(*output);
      }
    }
  }

  std::unordered_set<const Node*> deciders_;
};

}  // namespace

std::unordered_set<const Node*> decidersOfLayout(const Block& block) {
  LayoutWalk walk;
  walk.start(block);
  return walk.take();
}

}  // namespace torchtrt::partitioning
