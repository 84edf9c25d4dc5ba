#include "stitching/constant_results.h"

#include <algorithm>
#include <unordered_map>

#include <torch/csrc/jit/ir/constants.h>

namespace torchtrt::stitching {

namespace {

using torch::jit::Graph;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;
namespace aten = torch::jit::aten;

bool isTensor(const Value& value) {
  return value.type()->kind() == c10::TypeKind::TensorType;
}

bool isConstruction(const Node& node) {
  return node.kind() == prim::TupleConstruct || node.kind() == prim::ListConstruct ||
         node.kind() == prim::DictConstruct;
}

// The results of these are elements of their first operand, or it itself.
bool takesOut(const Node& node) {
  return node.kind() == prim::TupleUnpack || node.kind() == prim::TupleIndex || node.kind() == prim::ListUnpack ||
         node.kind() == prim::unchecked_cast || node.kind() == aten::__getitem__;
}

class ResultCopier {
 public:
  explicit ResultCopier(Graph& graph) : graph_(graph) {}

  void run() {
    own(*graph_.return_node());
  }

 private:
  void own(Node& user) {
    for (size_t i = 0; i < user.inputs().size(); ++i) {
      own(user, i);
    }
  }

  void own(Node& user, size_t input) {
    Value& value = *user.input(input);
    Node& node = *value.node();
    if (isConstruction(node)) {
      own(node);
    } else if (node.kind() == prim::If) {
      for (torch::jit::Block* block : node.blocks()) {
        own(*block->return_node(), value.offset());
      }
    } else if (node.kind() == prim::Constant && !isTensor(value)) {
      const torch::jit::WithInsertPoint before(&user);
      user.replaceInput(input, remade(value));
    } else if (isTensor(value) && sharesConstant(value)) {
      const torch::jit::WithInsertPoint before(&user);
      user.replaceInput(input, copyOf(value));
    }
  }

  // libtorch's executor would make a constant of the copy, except for what writes to it.
  Value* copyOf(Value& value) {
    static const auto kDetach = c10::Symbol::fromQualString("aten::detach_");
    return graph_.insert(kDetach, {graph_.insert(aten::clone, {&value})});
  }

  // A copy of a constant; a collection as a construction of copies.
  Value* remade(Value& constant) {
    const IValue value = torch::jit::toIValue(&constant).value_or(IValue());
    if (value.isTensor() && value.toTensor().defined()) {
      return copyOf(constant);
    }
    std::vector<Value*> elements;
    if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) {
        elements.push_back(remade(*graph_.insertConstant(tensor)));
      }
      return graph_.insertNode(graph_.createList(c10::TensorType::get(), elements))->output();
    }
    if (value.isTuple()) {
      for (const IValue& element : value.toTupleRef().elements()) {
        elements.push_back(remade(*graph_.insertConstant(element)));
      }
      const auto type = constant.type()->cast<c10::TupleType>();
      return graph_.insertNode(graph_.createTuple(elements, type && type->schema() ? type : nullptr))->output();
    }
    return value.isList() ? graph_.insert(aten::list, {&constant}) : &constant;
  }

  bool sharesConstant(const Value& value) {
    const auto [known, is_new] = shares_.emplace(&value, false);  // on a cycle, through a loop: as far as the rest does
    if (!is_new) {
      return known->second;
    }
    const bool shares = decide(value);
    shares_[&value] = shares;
    return shares;
  }

  bool decide(const Value& value) {
    const Node& node = *value.node();
    const auto shares = [this](const Value* each) { return sharesConstant(*each); };
    if (node.kind() == prim::Constant) {
      return true;
    }
    if (node.kind() == prim::Param) {
      const Node* loop = node.owningBlock()->owningNode();
      return loop != nullptr && loop->kind() == prim::Loop && value.offset() > 0 &&
             shares(loop->input(value.offset() + 1));
    }
    if (node.kind() == prim::If) {
      return shares(node.blocks()[0]->outputs()[value.offset()]) || shares(node.blocks()[1]->outputs()[value.offset()]);
    }
    if (node.kind() == prim::Loop) {
      return shares(node.input(value.offset() + 2)) || shares(node.blocks()[0]->outputs()[value.offset() + 1]);
    }
    if (isConstruction(node)) {
      return std::any_of(node.inputs().begin(), node.inputs().end(), shares);
    }
    return takesOut(node) ? shares(node.input(0)) : mayBeView(node, value, shares);
  }

  // True if a result may be a view of an operand that shares a constant.
  template <typename Predicate>
  static bool mayBeView(const Node& node, const Value& value, const Predicate& shares) {
    const auto* schema = node.maybeSchema();
    if (schema == nullptr || value.offset() >= schema->returns().size() ||
        schema->returns()[value.offset()].alias_info() == nullptr) {
      return false;
    }
    for (size_t i = 0; i < node.inputs().size() && i < schema->arguments().size(); ++i) {
      if (schema->arguments()[i].alias_info() != nullptr && shares(node.input(i))) {
        return true;
      }
    }
    return false;
  }

  Graph& graph_;
  std::unordered_map<const Value*, bool> shares_;
};

}  // namespace

void copyConstantResults(Graph& graph) {
  ResultCopier(graph).run();
}

}  // namespace torchtrt::stitching
