#include "lowering/passes/view_functionalizer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lowering/graph_walk.h"
#include "lowering/passes/in_place.h"
#include "lowering/passes/views.h"

// The part that is written is computed anew and put
// back, view by view, into the whole. Later readers of any name get that view of the new whole:
//
//     row = x[0]                row = x[0]
//     row += y                  new_row = row + y
//     return x.t(), row    ->   new_x = select_scatter(x, new_row, 0, 0)
//                               return new_x.t(), new_row
//
// Branches give the whole as it is behind them, and loops carry it.

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

using Nodes = torch::jit::graph_node_list_iterator;

class ViewFunctionalizer {
 public:
  ViewFunctionalizer(Graph& graph, const ViewFamily& family, bool keeps_writes)
      : graph_(graph), family_(family), keeps_writes_(keeps_writes) {}

  void run() {
    Value& root = family_.root();
    Current current = {{&root, &root}};
    Block& block = *root.node()->owningBlock();
    const bool is_argument = root.node() == graph_.param_node();  // which stands in no list of nodes
    follow(block, is_argument ? block.nodes().begin() : ++root.node()->iterator(), current);
    removeUnused();
  }

 private:
  // Gives the value that now holds a member's elements. Members that are not in it are views of something that was
  // written since.
  using Current = std::map<const Value*, Value*>;

  void follow(Block& block, Nodes from, Current& current) {
    for (Nodes it = from; it != block.nodes().end();) {
      Node* node = *it++;
      if (family_.isUser(*node)) {
        visit(*node, current);
      }
    }
    if (keeps_writes_ && &block == graph_.block()) {
      giveRealMembers(*block.return_node());
    } else {
      read(*block.return_node(), current);
    }
  }

  // The caller gets what is written to, not a copy.
  void giveRealMembers(Node& node) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      if (family_.has(node.input(i))) {
        node.replaceInput(i, realMember(*node.input(i)));
      }
    }
  }

  // True for a tuple or list that nothing is done with but returning it.
  bool isOnlyReturned(const Node& node) const {
    const bool holds = node.kind() == prim::TupleConstruct || node.kind() == prim::ListConstruct;
    return holds && node.owningBlock() == graph_.block() &&
           std::all_of(node.output()->uses().begin(), node.output()->uses().end(), [&](const torch::jit::Use& use) {
             return use.user == graph_.return_node() || isOnlyReturned(*use.user);
           });
  }

  void visit(Node& node, Current& current) {
    if (keeps_writes_ && isOnlyReturned(node)) {
      giveRealMembers(node);
      return;
    }
    if (isInPlace(node) && family_.has(node.input(0))) {
      write(node, current);
      return;
    }
    if (keeps_writes_ && isView(node)) {
      keepView(node, current);
      return;
    }
    read(node, current);
    if (node.blocks().empty()) {
      for (Value* output : node.outputs()) {
        if (family_.has(output)) {
          current[output] = output;
        }
      }
    } else if (!family_.hasWriteInside(node)) {
      for (Block* inner : node.blocks()) {
        Current inside = current;
        follow(*inner, inner->nodes().begin(), inside);
      }
    } else if (node.kind() == prim::If) {
      followBranches(node, current);
    } else {
      followLoop(node, current);
    }
  }

  bool isView(const Node& node) const {
    return node.blocks().empty() && std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* output) {
             return family_.has(output) || viewedBy(*output) != nullptr;
           });
  }

  // A view that writes go through stays a view of what is written to. Its elements are known from it until then.
  void keepView(Node& node, Current& current) {
    if (family_.has(node.input(0))) {
      node.replaceInput(0, realMember(*node.input(0)));  // a write that gave the operand goes
    }
    for (Value* output : node.outputs()) {
      if (family_.has(output)) {
        const auto whole = current.find(family_.parentOf(output));
        if (whole != current.end() && whole->second == whole->first) {
          current[output] = output;
        } else {
          current.erase(output);
        }
      }
    }
  }

  void read(Node& node, Current& current, size_t first = 0) {
    for (size_t i = first; i < node.inputs().size(); ++i) {
      if (family_.has(node.input(i))) {
        node.replaceInput(i, valueOf(*node.input(i), current, node));
      }
    }
  }

  // Makes the value in front of the node, which may be a block's return.
  Value* valueOf(const Value& member, Current& current, Node& before) {
    const auto known = current.find(&member);
    if (known != current.end()) {
      return known->second;
    }
    Value* whole = valueOf(*family_.parentOf(&member), current, before);
    return current[&member] = viewAgain(member, whole, before);
  }

  void write(Node& node, Current& current) {
    Value* member = node.input(0);
    read(node, current, 1);
    Value* former = valueOf(*member, current, node);
    node.replaceInput(0, former);
    Node* functional = functionalForm(graph_, node);
    functional->insertBefore(&node);
    functional->copyMetadata(&node);
    functional->output()->setType(node.output()->type());
    const bool is_copy = functional->kind() == torch::jit::aten::copy;
    Value* part = is_copy ? functional->output() : keepType(graph_, *functional, former);
    Value* const written = is_copy ? node.input(1) : part;
    Current next = {{member, part}, {node.output(), part}};
    const Value* view = member;
    while (Value* whole = family_.parentOf(view)) {
      part = isInPlace(*view->node()) ? part : putBack(*view, valueOf(*whole, current, node), part, node);
      next[whole] = part;
      view = whole;
    }
    if (keeps_writes_) {
      keepWrite(node, *member, written);  // behind all that reads the elements as they were
    }
    current = std::move(next);
  }

  void keepWrite(Node& node, Value& member, Value* values) {
    const torch::jit::WithInsertPoint place(&node);
    Node* copy = graph_.create(torch::jit::aten::copy_, {realMember(member), values, graph_.insertConstant(false)});
    graph_.insertNode(copy)->copyMetadata(&node);
  }

  // An in-place operator gives back what it wrote to, and that value stays.
  Value* realMember(Value& member) const {
    Value* real = &member;
    while (isInPlace(*real->node())) {
      real = family_.parentOf(real);
    }
    return real;
  }

  void followBranches(Node& node, Current& current) {
    const Value* root = &family_.root();
    for (Block* inner : node.blocks()) {
      Current inside = current;
      follow(*inner, inner->nodes().begin(), inside);
      inner->registerOutput(valueOf(*root, inside, *inner->return_node()));
    }
    current = {{root, node.addOutput()->setType(c10::TensorType::get())}};
  }

  void followLoop(Node& node, Current& current) {
    const Value* root = &family_.root();
    Block& body = *node.blocks()[0];
    node.addInput(valueOf(*root, current, node));
    Current inside = {{root, body.addInput()->setType(c10::TensorType::get())}};
    follow(body, body.nodes().begin(), inside);
    body.registerOutput(valueOf(*root, inside, *body.return_node()));
    current = {{root, node.addOutput()->setType(c10::TensorType::get())}};
  }

  // The writes, and views that served nothing else; those that were taken of others first.
  void removeUnused() {
    std::vector<Node*> makers;
    for (const Value* member : family_.members()) {
      Node* maker = const_cast<Node*>(member->node());
      if (member != &family_.root() && std::find(makers.begin(), makers.end(), maker) == makers.end()) {
        makers.push_back(maker);
      }
    }
    for (auto maker = makers.rbegin(); maker != makers.rend(); ++maker) {
      Node* splitter = isPiece(*(*maker)->output(0)) ? (*maker)->input(0)->node() : nullptr;
      if (destroyUnused(**maker) && splitter != nullptr) {
        destroyUnused(*splitter);
      }
    }
  }

  static bool destroyUnused(Node& node) {
    const auto outputs = node.outputs();
    const bool is_used =
        std::any_of(outputs.begin(), outputs.end(), [](const Value* output) { return output->hasUses(); });
    if (!is_used) {
      node.destroy();
    }
    return !is_used;
  }

  Graph& graph_;
  const ViewFamily& family_;
  const bool keeps_writes_;
};

}  // namespace

void functionalize(Graph& graph, const ViewFamily& family, bool keeps_writes) {
  ViewFunctionalizer(graph, family, keeps_writes).run();
}

Value* rootOf(Value* written) {
  while (Value* whole = viewedBy(*written)) {
    written = whole;
  }
  return written;
}

bool showsLayout(const ViewFamily& family, const std::unordered_set<const Node*>& deciders_of_layout) {
  return std::any_of(family.members().begin(), family.members().end(),
                     [&](const Value* member) { return deciders_of_layout.count(member->node()) != 0; });
}

}  // namespace torchtrt::lowering
