#include "lowering/memory/write_origins.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "lowering/graph_walk.h"

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

bool holdsMemory(const Value* value) {
  return isMutable(*value->type());
}

// True if the node takes memory. One that takes none writes to none, whatever else it does.
bool takesMemory(const Node& node) {
  return std::any_of(node.inputs().begin(), node.inputs().end(), holdsMemory);
}

// Nodes of the language itself that write to nothing but an attribute that they set.
bool isHarmless(const Node& node) {
  static const std::set<c10::Symbol> kinds = {prim::Constant,       prim::If,
                                              prim::Loop,           prim::GetAttr,
                                              prim::SetAttr,        prim::CreateObject,
                                              prim::TupleConstruct, prim::TupleUnpack,
                                              prim::TupleIndex,     prim::TupleSlice,
                                              prim::ListConstruct,  prim::ListUnpack,
                                              prim::DictConstruct,  prim::Uninitialized,
                                              prim::unchecked_cast, prim::isinstance,
                                              prim::Print,          prim::RaiseException};
  return kinds.count(node.kind()) != 0;
}

bool saysWhatItDoes(const Node& node) {
  const torch::jit::Operator* found = node.maybeOperator();
  return found && (found->aliasAnalysisKind() == c10::AliasAnalysisKind::FROM_SCHEMA ||
                   found->aliasAnalysisKind() == c10::AliasAnalysisKind::PURE_FUNCTION);
}

bool isWildcard(const c10::AliasInfo& info) {
  const auto& contained = info.containedTypes();
  return info.isWildcardBefore() || info.isWildcardAfter() ||
         std::any_of(contained.begin(), contained.end(), isWildcard);
}

bool takesPart(const Node& node) {
  static const std::set<std::string> kinds = {"aten::__getitem__", "aten::len"};
  return node.kind() == prim::ListUnpack || kinds.count(node.kind().toQualString()) != 0;
}

bool isOperator(const Node& node) {
  return !isHarmless(node) && !takesPart(node) && node.kind() != prim::Param;
}

// An einsum of two operands or more, which are multiplied; one of a single operand may be a view of it. The list is as
// it was made: nobody else has it.
bool multipliesOperands(const Node& node) {
  if (node.kind().toQualString() != std::string_view("aten::einsum")) {
    return false;
  }
  const Value& operands = *node.namedInput("tensors");
  return operands.node()->kind() == prim::ListConstruct && operands.node()->inputs().size() > 1 &&
         operands.uses().size() == 1;
}

class WriteTracer {
 public:
  explicit WriteTracer(Graph& graph) : graph_(graph) {}

  bool run(const std::vector<Value*>& further) {
    forEachNode(graph_.block(), [&](Node* node) {
      if (node->kind() == prim::SetAttr) {
        set_[node->s(torch::jit::attr::name)].push_back(node->input(1));
      }
      const c10::FunctionSchema* schema = node->maybeSchema();
      writes_lists_ |= schema && schema->is_mutable() && node->input(0)->type()->kind() == c10::TypeKind::ListType;
    });
    forEachNode(graph_.block(), [&](Node* node) { addWrites(*node); });
    for (Value* value : further) {
      follow(*value);
    }
    return is_known_;
  }

  std::set<const Value*> takeReads() {
    return std::move(reads_);
  }

 private:
  void addWrites(Node& node) {
    if (isHarmless(node) || (!takesMemory(node) && node.kind() != prim::fork)) {
      return;
    }
    const c10::FunctionSchema* schema = saysWhatItDoes(node) ? node.maybeSchema() : nullptr;
    if (!schema) {
      is_known_ = false;
      return;
    }
    bool found = false;
    for (size_t i = 0; schema->is_mutable() && i < schema->arguments().size() && i < node.inputs().size(); ++i) {
      const c10::AliasInfo* info = schema->arguments()[i].alias_info();
      if (info && info->isWrite()) {
        found = true;
        addWrite(*node.input(i));
      }
    }
    is_known_ &= found || !schema->is_mutable();
  }

  // Putting something into a list that was just made changes nothing else.
  void addWrite(Value& value) {
    if (value.node()->kind() != prim::ListConstruct) {
      follow(value);
    }
  }

  // Follows the value to where its object was made; a tuple or list to where its elements were.
  void follow(Value& value) {
    if (!isMutable(*value.type()) || !seen_.insert(&value).second) {
      return;
    }
    Node& node = *value.node();
    if (node.kind() == prim::Param) {
      followParameter(value);
    } else if (node.kind() == prim::If) {
      followAll({node.blocks()[0]->outputs()[value.offset()], node.blocks()[1]->outputs()[value.offset()]});
    } else if (node.kind() == prim::Loop) {
      followAll({node.input(value.offset() + 2), node.blocks()[0]->outputs()[value.offset() + 1]});
    } else if (node.kind() == prim::GetAttr) {
      followRead(value);
    } else if (node.kind() == prim::ListUnpack || node.kind().toQualString() == std::string("aten::__getitem__")) {
      followElements(*node.input(0));
    } else if (node.kind() == prim::unchecked_cast || node.kind() == prim::TupleUnpack ||
               node.kind() == prim::TupleIndex || node.kind() == prim::TupleSlice) {
      follow(*node.input(0));
    } else if (node.kind() == prim::TupleConstruct || node.kind() == prim::ListConstruct ||
               node.kind() == prim::DictConstruct) {
      followAll(node.inputs().vec());
    } else if (!isHarmless(node)) {  // the others of them make something new
      followOperator(node, value.offset());
    }
  }

  void followAll(const std::vector<Value*>& values) {
    for (Value* value : values) {
      follow(*value);
    }
  }

  // The graph's own parameters are the caller's.
  void followParameter(Value& value) {
    Block& block = *value.node()->owningBlock();
    Node* owner = block.owningNode();
    if (!owner) {
      return;
    }
    if (owner->kind() != prim::Loop) {
      is_known_ = false;
    } else if (value.offset() > 0) {
      followAll({owner->input(value.offset() + 1), block.outputs()[value.offset()]});
    }
  }

  void followRead(Value& value) {
    Value* owner = value.node()->input();
    while (owner->node()->kind() == prim::GetAttr) {
      owner = owner->node()->input();
    }
    if (owner == graph_.inputs()[0]) {
      reads_.insert(&value);
    } else if (owner->node()->kind() != prim::CreateObject) {
      is_known_ = false;
    }
    const auto values = set_.find(value.node()->s(torch::jit::attr::name));
    if (values != set_.end()) {
      followAll(values->second);
    }
  }

  // Follows the elements of a list that nobody changes after it was made.
  void followElements(Value& list) {
    Node& node = *list.node();
    const bool is_list = list.type()->kind() == c10::TypeKind::ListType;
    if (!is_list ||
        !std::all_of(list.uses().begin(), list.uses().end(), [](const Use& use) { return takesPart(*use.user); })) {
      is_known_ = false;
    } else if (node.kind() == prim::ListConstruct) {
      followAll(node.inputs().vec());
    } else if (node.kind() == prim::GetAttr ? !writes_lists_ : isOperator(node)) {
      follow(list);
    } else {
      is_known_ = false;
    }
  }

  void followOperator(Node& node, size_t offset) {
    if (makesMemory(*node.output(offset))) {
      return;
    }
    const c10::FunctionSchema* schema = saysWhatItDoes(node) ? node.maybeSchema() : nullptr;
    if (!schema || offset >= schema->returns().size()) {
      is_known_ = false;
      return;
    }
    const c10::AliasInfo* result = schema->returns()[offset].alias_info();
    if (!result) {  // an operand, for all that its schema says
      followAll(node.inputs().vec());
      return;
    }
    is_known_ &= !isWildcard(*result);
    for (size_t i = 0; i < schema->arguments().size(); ++i) {
      if (schema->arguments()[i].alias_info()) {
        follow(*node.input(i));
      }
    }
  }

  Graph& graph_;
  std::map<std::string, std::vector<Value*>> set_;  // by the attribute's name
  std::set<const Value*> seen_, reads_;
  bool writes_lists_ = false;
  bool is_known_ = true;
};

}  // namespace

bool mayReturnOperand(const Node& node) {
  if (multipliesOperands(node)) {
    return false;
  }
  static const std::set<std::string> kinds = {"aten::dropout",
                                              "aten::feature_dropout",
                                              "aten::alpha_dropout",
                                              "aten::feature_alpha_dropout",
                                              "aten::type_as",
                                              "aten::broadcast_tensors",
                                              "aten::meshgrid",
                                              "aten::atleast_1d",
                                              "aten::atleast_2d",
                                              "aten::atleast_3d",
                                              "aten::sum_to_size",
                                              "aten::einsum",
                                              "aten::_cast_Float",
                                              "aten::_cast_Double",
                                              "aten::_cast_Half",
                                              "aten::_cast_Int",
                                              "aten::_cast_Long",
                                              "aten::_cast_Byte",
                                              "aten::_cast_Char",
                                              "aten::_cast_Short",
                                              "aten::cartesian_prod",
                                              "aten::to_dense",
                                              "aten::channel_shuffle",
                                              "aten::conj_physical",
                                              "aten::chain_matmul",
                                              "aten::align_tensors",
                                              "aten::_unsafe_view",
                                              "aten::dequantize",
                                              "aten::lift"};
  return kinds.count(node.kind().toQualString()) != 0;
}

bool makesMemory(const Value& value) {
  const Node& node = *value.node();
  const c10::FunctionSchema* schema = saysWhatItDoes(node) ? node.maybeSchema() : nullptr;
  // A list that an operator gives, such as slice's, may hold what its operand holds.
  const auto held = value.type()->containedTypes();
  const bool holds_memory = std::any_of(held.begin(), held.end(), [](const auto& type) { return isMutable(*type); });
  return !holds_memory && schema && !mayReturnOperand(node) && value.offset() < schema->returns().size() &&
         !schema->returns()[value.offset()].alias_info();
}

std::optional<std::set<const Value*>> writtenReads(Graph& graph, const std::vector<Value*>& further) {
  WriteTracer tracer(graph);
  if (!tracer.run(further)) {
    return std::nullopt;
  }
  return tracer.takeReads();
}

}  // namespace torchtrt::lowering
