#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lowering/graph_walk.h"
#include "lowering/memory/aliases.h"
#include "lowering/module_path.h"
#include "lowering/precision_pins.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

using Precision = std::optional<at::ScalarType>;  // nothing: what it would be without pins

bool isReduced(at::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16;
}

// Lists and tuples, which cannot be cast; their elements are.
bool isContainer(const Value& value) {
  const c10::TypeKind kind = value.type()->kind();
  return kind == c10::TypeKind::ListType || kind == c10::TypeKind::TupleType || kind == c10::TypeKind::DictType;
}

bool isConstruction(const Node& node) {
  return node.kind() == prim::ListConstruct || node.kind() == prim::TupleConstruct ||
         node.kind() == prim::DictConstruct;
}

// Shapes are the same in every dtype.
bool asksForShape(const Node& node) {
  static const std::set<std::string> kinds = {"aten::size", "aten::dim", "aten::numel", "aten::len"};
  return kinds.count(node.kind().toQualString()) != 0;
}

// A tensor that a run may have or not is not cast, since None cannot be: what computes with it is not pinned.
bool takesOptionalTensor(const Node& node) {
  const auto is_optional = [](const Value* input) {
    const auto type = input->type()->cast<c10::OptionalType>();
    return type && type->getElementType()->kind() == c10::TypeKind::TensorType &&
           input->node()->kind() != prim::Constant;
  };
  return !node.kind().is_prim() && std::any_of(node.inputs().begin(), node.inputs().end(), is_optional);
}

// Lists of tensors are not cast either: one that a module returns or keeps is not pinned.
bool givesListAway(const Node& node) {
  const auto keeps = [](const torch::jit::Use& use) {
    return use.user->kind().is_prim() && use.user->kind() != prim::ListUnpack && use.user->kind() != prim::TupleUnpack;
  };
  return !node.kind().is_prim() && std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* output) {
    return isContainer(*output) && std::any_of(output->uses().begin(), output->uses().end(), keeps);
  });
}

// Results whose dtype the node says, as softmax(x, -1, torch.float32), or that it makes of no tensor.
bool choosesItsDtype(const Node& node) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (!schema) {
    return false;
  }
  const auto dtype = schema->argumentIndexWithName("dtype");
  if (dtype && static_cast<size_t>(*dtype) < node.inputs().size()) {
    const auto value = torch::jit::toIValue(node.input(static_cast<size_t>(*dtype)));
    if (value && value->isInt()) {
      return true;
    }
  }
  return std::none_of(node.inputs().begin(), node.inputs().end(),
                      [](const Value* input) { return isTensor(*input) || isContainer(*input); });
}

class Pinner {
 public:
  Pinner(const std::shared_ptr<Graph>& graph, const PrecisionPins& pins)
      : graph_(*graph), pins_(pins), counts_(pins.pins.size(), 0) {
    findWritten(graph);
  }

  std::vector<size_t> run() {
    visit(graph_.block());
    readAs(graph_.return_node(), std::nullopt);
    return counts_;
  }

 private:
  // Nodes that read or make what somebody writes to: a cast would give them a copy.
  void findWritten(const std::shared_ptr<Graph>& graph) {
    const torch::jit::AliasDb aliases = aliasesOf(graph);
    const auto is_written = [&](Value* value) { return isMutable(*value->type()) && aliases.hasWriters(value); };
    forEachNode(graph->block(), [&](Node* node) {
      if (std::any_of(node->inputs().begin(), node->inputs().end(), is_written) ||
          std::any_of(node->outputs().begin(), node->outputs().end(), is_written)) {
        written_.insert(node);
      }
    });
  }

  void visit(Block* block) {
    for (auto it = block->nodes().begin(); it != block->nodes().end();) {
      Node* node = *it++;
      if (node->kind() == prim::Constant) {
        continue;
      }
      const Precision precision = precisionOf(node);
      count(*node, precision);
      readAs(node, precision);
      for (Block* inner : node->blocks()) {
        give(inner->inputs(), precision);
        visit(inner);
        readAs(inner->return_node(), precision);
      }
      give(node->outputs(), choosesItsDtype(*node) ? Precision() : precision);
    }
  }

  Precision precisionOf(Node* node) const {
    // An attribute keeps the dtype that it has in the module, whoever writes it.
    if (written_.count(node) || node->kind() == prim::GetAttr || node->kind() == prim::SetAttr ||
        takesOptionalTensor(*node) || givesListAway(*node)) {
      return std::nullopt;
    }
    if (node->kind() == prim::unchecked_cast) {
      return precisionAt(node->input());
    }
    if (node->kind() == prim::Return) {
      Node* owner = node->owningBlock()->owningNode();
      return owner ? precisionOf(owner) : std::nullopt;
    }
    if (isConstruction(*node) && node->output()->hasUses()) {
      return precisionOf(node->output()->uses()[0].user);
    }
    for (const Value* input : node->inputs()) {
      if (isContainer(*input) && input->node()->kind() != prim::Constant && !isConstruction(*input->node())) {
        return precisionAt(input);
      }
    }
    const auto pin = pinFor(pins_.pins, modulePath(*node));
    return pin ? Precision(pins_.pins[*pin].dtype) : std::nullopt;
  }

  void count(const Node& node, const Precision& precision) {
    const bool computes = !node.kind().is_prim() && !asksForShape(node);
    const auto pin = computes ? pinFor(pins_.pins, modulePath(node)) : std::nullopt;
    if (pin && precision == pins_.pins[*pin].dtype) {  // what takes lists apart has the dtype of the list
      ++counts_[*pin];
    }
  }

  Precision precisionAt(const Value* value) const {
    const auto found = precisions_.find(value);
    return found == precisions_.end() ? std::nullopt : found->second;
  }

  void give(at::ArrayRef<Value*> values, const Precision& precision) {
    for (const Value* value : values) {
      precisions_[value] = precision;
    }
  }

  void readAs(Node* node, const Precision& precision) {
    if (asksForShape(*node)) {
      return;
    }
    const torch::jit::WithInsertPoint guard(node);
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Value* input = node->input(i);
      if (input->node()->kind() == prim::Constant) {
        readConstantAs(node, i, precision);
      } else if (isTensor(*input) && precisionAt(input) != precision) {
        const at::ScalarType from = precisionAt(input).value_or(pins_.rest);
        node->replaceInput(i, cast(input, from, precision.value_or(pins_.rest), node));
      }
    }
  }

  // Values that are neither float32 nor of 16 bits, integers above all, pass these two unchanged.
  Value* cast(Value* value, at::ScalarType from, at::ScalarType to, Node* reader) {
    if (to == at::kFloat || isReduced(from)) {
      value = append("aten::_autocast_to_full_precision", {value, yes(), yes()}, reader);
    }
    if (to != at::kFloat) {
      Value* dtype = graph_.insertConstant(static_cast<int64_t>(to));
      value = append("aten::_autocast_to_reduced_precision", {value, yes(), yes(), dtype, dtype}, reader);
    }
    return value;
  }

  Value* yes() {
    return graph_.insertConstant(true);
  }

  Value* append(const char* kind, at::ArrayRef<Value*> inputs, Node* reader) {
    Node* node = graph_.insertNode(graph_.create(c10::Symbol::fromQualString(kind), inputs));
    node->copyMetadata(reader->kind() == prim::Return ? inputs[0]->node() : reader);
    return node->output();
  }

  void readConstantAs(Node* reader, size_t i, const Precision& precision) {
    const IValue value = torch::jit::toIValue(reader->input(i)).value_or(IValue());
    if (value.isTensor()) {
      const at::Tensor converted = constantAs(value.toTensor(), precision);
      if (!converted.is_same(value.toTensor())) {
        Value* constant = graph_.insertConstant(converted);
        constant->setType(c10::TensorType::get());  // which no shape of an example is
        reader->replaceInput(i, constant);
      }
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> converted;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        converted.push_back(constantAs(tensor, precision));
      }
      reader->replaceInput(i, graph_.insertConstant(converted));
    }
  }

  // A weight of a pinned module was left as it was, so that it is rounded once, or not at all.
  at::Tensor constantAs(const at::Tensor& tensor, const Precision& precision) const {
    if (!tensor.defined() || !(tensor.scalar_type() == at::kFloat || isReduced(tensor.scalar_type()))) {
      return tensor;
    }
    const bool is_foreign = tensor.has_storage() && pins_.unconverted.count(tensor.storage().data()) != 0;
    return precision ? tensor.to(*precision) : is_foreign ? tensor.to(pins_.rest) : tensor;
  }

  Graph& graph_;
  const PrecisionPins& pins_;
  std::vector<size_t> counts_;
  std::unordered_set<const Node*> written_;
  std::unordered_map<const Value*, Precision> precisions_;
};

}  // namespace

std::vector<size_t> pinPrecisions(const std::shared_ptr<Graph>& graph, const PrecisionPins& pins) {
  return Pinner(graph, pins).run();
}

}  // namespace torchtrt::lowering
