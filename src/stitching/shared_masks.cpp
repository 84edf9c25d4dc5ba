#include "stitching/shared_masks.h"

#include <algorithm>
#include <vector>

#include "runtime/masks.h"

namespace torchtrt::stitching {

namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;
namespace aten = torch::jit::aten;

bool isComparison(const Node& node) {
  static const c10::Symbol kComparisons[] = {aten::gt, aten::ge, aten::lt, aten::le, aten::eq, aten::ne};
  return std::find(std::begin(kComparisons), std::end(kComparisons), node.kind()) != std::end(kComparisons);
}

// The mask of `x[mask]`; null for any other node.
Value* maskOf(const Node& node) {
  if (node.kind() != aten::index || node.inputs().size() != 2) {
    return nullptr;
  }
  const Node& indices = *node.input(1)->node();
  const bool is_one = indices.kind() == prim::ListConstruct && indices.inputs().size() == 1;
  Value* const mask = is_one ? indices.input(0) : nullptr;
  return mask != nullptr && mask->type()->kind() == c10::TypeKind::TensorType && isComparison(*mask->node()) ? mask
                                                                                                             : nullptr;
}

bool mayWrite(const Node& node) {
  const bool only_makes = node.kind() == prim::Constant || node.kind() == prim::ListConstruct;
  const torch::jit::FunctionSchema* const schema = node.maybeSchema();
  return !only_makes && (!node.blocks().empty() || node.hasSideEffects() || schema == nullptr || schema->is_mutable());
}

class MaskSharer {
 public:
  explicit MaskSharer(Graph& graph) : graph_(graph) {}

  void run(Block& block) {
    for (auto it = block.nodes().begin(); it != block.nodes().end();) {
      Node* const node = *it++;
      if (Value* const mask = maskOf(*node)) {
        closeReadBy(*node);
        join(mask, node);
      } else if (mayWrite(*node)) {
        closeAll();
      } else {
        closeReadBy(*node);
      }
      for (Block* inner : node->blocks()) {
        MaskSharer(graph_).run(*inner);
      }
    }
    closeAll();
  }

 private:
  struct Group {
    Value* mask;
    std::vector<Node*> nodes;

    bool isReadBy(const Node& node) const {
      return std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value* input) {
        return std::find(nodes.begin(), nodes.end(), input->node()) != nodes.end();
      });
    }
  };

  void join(Value* mask, Node* node) {
    for (Group& group : open_) {
      if (group.mask == mask) {
        group.nodes.push_back(node);
        return;
      }
    }
    open_.push_back({mask, {node}});
  }

  void closeReadBy(const Node& node) {
    const auto read =
        std::stable_partition(open_.begin(), open_.end(), [&](const Group& group) { return !group.isReadBy(node); });
    std::for_each(read, open_.end(), [&](const Group& group) { replace(group); });
    open_.erase(read, open_.end());
  }

  void closeAll() {
    std::for_each(open_.begin(), open_.end(), [&](const Group& group) { replace(group); });
    open_.clear();
  }

  void replace(const Group& group) {
    if (group.nodes.size() < 2) {
      return;
    }
    const torch::jit::WithInsertPoint here(group.nodes.back());
    std::vector<Value*> tensors;
    for (const Node* node : group.nodes) {
      tensors.push_back(node->input(0));
    }
    Node* const list = graph_.insertNode(graph_.createList(c10::TensorType::get(), tensors));
    Node* const call = graph_.create(c10::Symbol::fromQualString(runtime::kIndexByMask), {list->output(), group.mask});
    graph_.insertNode(call)->copyMetadata(group.nodes.front())->output()->setType(c10::ListType::ofTensors());
    Node* const unpack = graph_.insertNode(graph_.createListUnpack(call->output(), tensors.size()));
    for (size_t i = 0; i < group.nodes.size(); ++i) {
      Node* const node = group.nodes[i];
      Node* const indices = node->input(1)->node();
      unpack->output(i)->copyMetadata(node->output());
      node->output()->replaceAllUsesWith(unpack->output(i));
      node->destroy();
      if (!indices->output()->hasUses()) {
        indices->destroy();
      }
    }
  }

  Graph& graph_;
  std::vector<Group> open_;
};

}  // namespace

void shareMasks(Graph& graph) {
  MaskSharer(graph).run(*graph.block());
}

}  // namespace torchtrt::stitching
