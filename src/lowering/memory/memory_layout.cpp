#include "lowering/memory/memory_layout.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/script.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/memory/memory_roots.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

using Kinds = std::set<std::string>;

bool isOneOf(const Node& node, const Kinds& kinds) {
  return kinds.count(node.kind().toQualString()) != 0;
}

// Row by row without gaps in PyTorch as in engines, whatever the operands' layouts are.
bool isLaidOutAlike(const Node& node) {
  static const Kinds kinds = {"aten::linear", "aten::embedding", "aten::layer_norm", "aten::zeros",
                              "aten::ones",   "aten::full",      "aten::arange"};
  return isOneOf(node, kinds);
}

// True if it lays out by rows, too. It may be a part of something larger, and strides of dimensions of one element may
// be anything.
bool laysOutByRows(const Node& node) {
  return node.kind() == torch::jit::aten::contiguous &&
         torch::jit::constant_as<int64_t>(node.input(1)) == static_cast<int64_t>(at::MemoryFormat::Contiguous);
}

bool isNone(const Value& value) {
  return value.type()->isSubtypeOf(*c10::NoneType::get());
}

// True if all row-major memory is the same to the node: it neither takes nor gives strides or places in memory as
// numbers.
bool cannotTellRowsApart(const Node& node) {
  static const Kinds strided = {"aten::as_strided", "aten::as_strided_copy"};
  if (isOneOf(node, strided)) {
    return isNone(*node.input(3));  // where it begins
  }
  return viewsOrCopies(node) || (isOneOf(node, {"aten::is_contiguous"}) && node.inputs().size() == 1);
}

// Behind it in the program, or in the next trip of a loop.
bool mayFollow(const Node* write, const Node* node) {
  if (write->isAfter(node)) {
    return true;
  }
  for (const Node* outer = node; outer != nullptr; outer = outer->owningBlock()->owningNode()) {
    if (outer->kind() == prim::Loop && isInside(*write, *outer)) {
      return true;
    }
  }
  return false;
}

class LayoutWalk {
 public:
  explicit LayoutWalk(const std::function<bool(const Node&)>& can_tell) : can_tell_(can_tell) {}

  // Nodes that stop at contiguous come last: they add nothing to nodes that do not.
  void run(Block* block) {
    forEachNode(block, [this](const Node* node) {
      if (looksAtLayout(*node) || (viewsOrCopies(*node) && can_tell_(*node))) {
        observers_.push_back(node);
      }
    });
    for (const bool stops : {false, true}) {
      for (const Node* node : observers_) {
        if (cannotTellRowsApart(*node) == stops) {
          follow(*node->input(0), stops);
        }
      }
    }
  }

  std::unordered_set<const Node*> take() {
    return std::move(deciders_);
  }

 private:
  void follow(const Value& value, bool stops_at_rows) {
    const Node* node = value.node();
    if (node->kind() == prim::Param) {
      node = node->owningBlock()->owningNode();
    }
    if (!node || node->kind() == prim::Constant || isLaidOutAlike(*node) || !holdsTensors(value.type()) ||
        (stops_at_rows && laysOutByRows(*node)) || !deciders_.insert(node).second) {
      return;
    }
    for (const Value* input : node->inputs()) {
      follow(*input, stops_at_rows);
    }
    for (const Block* inner : node->blocks()) {
      for (const Value* output : inner->outputs()) {
        follow(*output, stops_at_rows);
      }
    }
  }

  const std::function<bool(const Node&)>& can_tell_;
  std::vector<const Node*> observers_;
  std::unordered_set<const Node*> deciders_;
};

}  // namespace

bool looksAtLayout(const Node& node) {
  static const Kinds kinds = {"aten::as_strided",         "aten::as_strided_",   "aten::as_strided_copy",
                              "aten::as_strided_scatter", "aten::is_contiguous", "aten::stride",
                              "aten::storage_offset",     "aten::sym_stride",    "aten::sym_storage_offset",
                              "aten::sym_is_contiguous"};
  return isOneOf(node, kinds) && holdsTensors(node.input(0)->type());
}

bool viewsOrCopies(const Node& node) {
  static const Kinds kinds = {"aten::reshape", "aten::reshape_as", "aten::flatten", "aten::ravel", "aten::contiguous"};
  if (isOneOf(node, kinds)) {
    return true;
  }
  const auto* schema = node.kind() == torch::jit::aten::to ? node.maybeSchema() : nullptr;
  const auto format = schema ? schema->argumentIndexWithName("memory_format") : std::nullopt;
  return format && !isNone(*node.input(static_cast<size_t>(*format)));
}

std::function<bool(const Node&)> writesThatShow(torch::jit::Graph& graph) {
  struct Write {
    const Node* node;
    const Value* operand;
  };
  std::vector<Write> writes;
  forEachNode(graph.block(), [&](const Node* node) {
    const auto* schema = node->maybeSchema();
    for (size_t i = 0; schema != nullptr && i < schema->arguments().size(); ++i) {
      if (schema->is_mutable({c10::SchemaArgType::input, i}) && isTensor(*node->input(i))) {
        writes.push_back({node, node->input(i)});
      }
    }
  });
  return [writes, roots = MemoryRoots(graph)](const Node& node) {
    return std::any_of(writes.begin(), writes.end(), [&](const Write& write) {
      return mayFollow(write.node, &node) && roots.meet(write.operand, node.output());
    });
  };
}

std::unordered_set<const Node*> decidersOfLayout(Block* block, const std::function<bool(const Node&)>& can_tell) {
  LayoutWalk walk(can_tell);
  walk.run(block);
  return walk.take();
}

}  // namespace torchtrt::lowering
