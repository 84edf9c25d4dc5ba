#include "lowering/passes/late_writes.h"

#include <algorithm>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/memory/write_origins.h"
#include "lowering/passes/view_functionalizer.h"
#include "lowering/passes/views.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;
namespace aten = torch::jit::aten;

class WriteDelayer {
 public:
  explicit WriteDelayer(const std::set<const Value*>& buffers) : buffers_(buffers) {}

  // The last one first, so that it is out of the way of those before it.
  void run(Graph& graph) {
    if (!keepsMemory(graph)) {
      return;
    }
    std::vector<Node*> writes;
    forEachNode(graph.block(), [&](Node* node) {
      if (node->kind() == aten::copy_ && !node->output()->hasUses() && buffers_.count(bufferOf(*node)) != 0) {
        writes.push_back(node);
      }
    });
    for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
      delay(**write);
    }
  }

 private:
  // True if every tensor and list holds to the end what it was made of: nothing puts a buffer into one that is older.
  static bool keepsMemory(Graph& graph) {
    static const std::set<std::string> replaces_memory = {"aten::set_", "aten::set_data"};
    bool keeps = true;
    forEachNode(graph.block(), [&](const Node* node) {
      const auto* schema = node->maybeSchema();
      const bool is_mutable = schema != nullptr && schema->is_mutable();
      keeps &= !is_mutable || (isTensor(*node->input(0)) && replaces_memory.count(node->kind().toQualString()) == 0);
    });
    return keeps;
  }

  static const Value* bufferOf(const Node& write) {
    return rootOf(const_cast<Value*>(write.input(0)));
  }

  void delay(Node& write) {
    Node* place = write.next();
    while (cannotSee(*place, write)) {
      place = place->next();
    }
    const bool is_overwritten =
        place->kind() == aten::copy_ && place->input(0) == write.input(0) && isApart(*place->input(1), bufferOf(write));
    if (is_overwritten) {
      write.destroy();
    } else if (place != write.next()) {
      write.moveBefore(place);
    }
  }

  bool cannotSee(const Node& node, const Node& write) {
    const Value* buffer = bufferOf(write);
    if (node.kind() == prim::Constant || node.kind() == prim::GetAttr) {
      return true;
    }
    const auto* schema = node.maybeSchema();
    if (!node.blocks().empty() || node.hasSideEffects() || (!schema && !handsOn(node))) {
      return false;
    }
    if (schema && schema->is_mutable()) {
      const Value* other = node.kind() == aten::copy_ ? bufferOf(node) : nullptr;
      return other != nullptr && other != buffer && buffers_.count(other) != 0 && isApart(*write.input(1), other) &&
             isApart(*node.input(1), buffer);
    }
    const bool is_view = node.outputs().size() == 1 && viewedBy(*node.output()) != nullptr;
    const auto read = readBy(node);
    return std::all_of(read.begin(), read.end(), [&](const Value* input) {
      return isApart(*input, buffer) || (is_view && input == viewedBy(*node.output()) && isOf(*input, buffer));
    });
  }

  // The operands that a result may be, or is computed of. type_as asks its second one for the dtype alone.
  static at::ArrayRef<const Value*> readBy(const Node& node) {
    const auto inputs = node.inputs();
    return node.kind() == aten::type_as ? inputs.slice(0, 1) : inputs;
  }

  static bool isOf(const Value& value, const Value* buffer) {
    return rootOf(const_cast<Value*>(&value)) == buffer;
  }

  static bool handsOn(const Node& node) {
    static const std::set<c10::Symbol> kinds = {prim::ListConstruct, prim::ListUnpack, prim::TupleConstruct,
                                                prim::TupleUnpack, prim::TupleIndex};
    const auto* schema = node.kind().is_aten() ? node.maybeSchema() : nullptr;
    return kinds.count(node.kind()) != 0 || (schema != nullptr && !schema->is_mutable());
  }

  // True if the value, and all that it holds, lies in other memory than the buffer.
  bool isApart(const Value& value, const Value* buffer) const {
    if (!isMutable(*value.type())) {
      return true;
    }
    const Value& root = *rootOf(const_cast<Value*>(&value));
    if (&root == buffer) {
      return false;
    }
    const Node& node = *root.node();
    if (buffers_.count(&root) != 0 || makesMemory(root) || node.kind() == prim::Constant) {
      return true;
    }
    const auto read = readBy(node);
    return handsOn(node) &&
           std::all_of(read.begin(), read.end(), [&](const Value* input) { return isApart(*input, buffer); });
  }

  const std::set<const Value*>& buffers_;
};

}  // namespace

void delayWrites(Graph& graph, const std::set<const Value*>& buffers) {
  WriteDelayer(buffers).run(graph);
}

}  // namespace torchtrt::lowering
