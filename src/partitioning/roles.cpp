#include "partitioning/roles.h"

#include <algorithm>
#include <set>
#include <string>

#include "lowering/memory/write_origins.h"
#include "lowering/passes/views.h"

namespace torchtrt::partitioning {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = torch::jit::prim;

namespace {

using Kinds = std::set<std::string>;

// Answered by shapes, dtypes and lengths, whatever the elements are.
const Kinds& questions() {
  static const Kinds kinds = {"aten::size",          "aten::sym_size",
                              "aten::dim",           "aten::numel",
                              "aten::sym_numel",     "aten::len",
                              "prim::shape",         "prim::dtype",
                              "prim::device",        "aten::__is__",
                              "aten::__isnot__",     "prim::is_complex",
                              "aten::is_complex",    "aten::is_floating_point",
                              "prim::layout",        "prim::is_sparse",
                              "prim::is_sparse_csr", "prim::is_quantized",
                              "prim::is_mkldnn",     "prim::is_cuda",
                              "prim::is_cpu",        "prim::is_meta",
                              "prim::is_mps",        "prim::is_xpu",
                              "prim::is_nested"};
  return kinds;
}

// Traces keep sizes as tensors without dimensions: arithmetic with those is arithmetic with numbers.
const Kinds& numberArithmetic() {
  static const Kinds kinds = {"aten::add",          "aten::sub",         "aten::mul",    "aten::div", "aten::rsub",
                              "aten::floor_divide", "aten::remainder",   "aten::neg",    "aten::to",  "aten::floor",
                              "aten::ceil",         "prim::NumToTensor", "aten::type_as"};
  return kinds;
}

const Kinds& numberReaders() {
  static const Kinds kinds = {"aten::Int",           "aten::IntImplicit",    "aten::Float",
                              "aten::FloatImplicit", "aten::ScalarImplicit", "aten::Bool",
                              "aten::item"};
  return kinds;
}

// These change what a tensor's shape is, which questions would otherwise be asked at any time.
const Kinds& shapeWriters() {
  static const Kinds kinds = {"aten::resize_",    "aten::resize_as_",  "aten::set_",       "aten::t_",
                              "aten::transpose_", "aten::squeeze_",    "aten::unsqueeze_", "aten::swapaxes_",
                              "aten::swapdims_",  "aten::as_strided_", "aten::set_data"};
  return kinds;
}

bool isOneOf(const Node& node, const Kinds& kinds) {
  return kinds.count(node.kind().toQualString()) != 0;
}

bool constructs(const Node& node) {
  return node.kind() == prim::ListConstruct || node.kind() == prim::TupleConstruct ||
         node.kind() == prim::DictConstruct || node.kind() == prim::Uninitialized;
}

bool takesApart(const Node& node) {
  static const auto kGetItem = c10::Symbol::fromQualString("aten::__getitem__");
  if (node.kind() == prim::TupleUnpack || node.kind() == prim::ListUnpack || node.kind() == prim::unchecked_cast) {
    return true;
  }
  return (node.kind() == prim::TupleIndex || node.kind() == kGetItem) &&
         node.input(1)->node()->kind() == prim::Constant;
}

template <typename Predicate>
bool allTensorInputs(const Node& node, const Predicate& predicate) {
  return std::all_of(node.inputs().begin(), node.inputs().end(),
                     [&](const Value* input) { return !holdsTensors(input->type()) || predicate(*input); });
}

void addOnce(Value* value, std::vector<Value*>& values) {
  if (std::find(values.begin(), values.end(), value) == values.end()) {
    values.push_back(value);
  }
}

bool isNumber(const Value& constant) {
  const auto value = torch::jit::toIValue(&constant);
  return value && value->isTensor() && value->toTensor().defined() && value->toTensor().dim() == 0;
}

bool anyShapeWriter(const Block& block) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [](const Node* node) {
    return isOneOf(*node, shapeWriters()) || std::any_of(node->blocks().begin(), node->blocks().end(),
                                                         [](const Block* inner) { return anyShapeWriter(*inner); });
  });
}

// Tensors that the block's nodes write to.
void addOperands(const Block& block, std::vector<Value*>& operands) {
  for (const Node* node : block.nodes()) {
    const auto* schema = node->maybeSchema();
    for (size_t i = 0; schema != nullptr && i < schema->arguments().size(); ++i) {
      if (schema->is_mutable({c10::SchemaArgType::input, i}) && isTensor(*node->input(i))) {
        operands.push_back(node->input(i));
      }
    }
    for (const Block* inner : node->blocks()) {
      addOperands(*inner, operands);
    }
  }
}

bool isWriter(const Node& node) {
  const auto* schema = node.maybeSchema();
  return (schema != nullptr && schema->is_mutable()) || node.kind() == prim::SetAttr;
}

// A copy whose result nobody reads.
bool isLateWrite(const Node& node) {
  return node.kind() == torch::jit::aten::copy_ && !node.output()->hasUses();
}

// Returns the first of the copies that end the block, if nothing else writes, and nothing behind it reads elements.
const Node* firstOfLastWrites(Block& block) {
  const Node* first = nullptr;
  bool come_last = true;
  lowering::forEachNode(&block, [&](const Node* node) {
    if (isWriter(*node)) {
      come_last &= isLateWrite(*node) && node->owningBlock() == &block;
      first = first == nullptr ? node : first;
    } else {
      come_last &= first == nullptr || onlyHandsOn(*node);
    }
  });
  return come_last ? first : nullptr;
}

}  // namespace

bool onlyHandsOn(const Node& node) {
  return node.kind() == prim::Constant || constructs(node) ||
         (!isWriter(node) && node.outputs().size() == 1 && node.blocks().empty() &&
          lowering::viewedBy(*node.output()) != nullptr);
}

const Node* ancestorIn(const Block& block, const Node& node) {
  const Node* at = &node;
  while (at != nullptr && at->owningBlock() != &block) {
    at = at->owningBlock()->owningNode();
  }
  return at;
}

Roles::Roles(const std::shared_ptr<torch::jit::Graph>& graph)
    : aliases_(lowering::aliasesOf(graph)),
      secrets_(lowering::secretAliasesOf(*graph)),
      shapes_are_written_(anyShapeWriter(*graph->block())),
      first_write_(firstOfLastWrites(*graph->block())) {
  addOperands(*graph->block(), operands_);
  addBlock(*graph->block());
}

void Roles::addWritten(const Value* value, torch::jit::ValueSet& written) const {
  addWrittenByName(value, written);
  if (operands_.empty() || !holdsTensors(value->type())) {
    return;
  }
  for (const Value* name : lowering::secretNamesOf(value, aliases_, secrets_)) {
    addWrittenByName(name, written);
  }
}

bool Roles::isReadBeforeWrites(const Value& value) const {
  return first_write_ != nullptr &&
         std::all_of(value.uses().begin(), value.uses().end(), [this](const torch::jit::Use& use) {
           const Node& user = *use.user;
           if (user.owningBlock() != first_write_->owningBlock() || !user.isBefore(first_write_)) {
             return false;
           }
           return std::all_of(user.outputs().begin(), user.outputs().end(), [this](const Value* output) {
             return !holdsTensors(output->type()) || lowering::makesMemory(*output) || isReadBeforeWrites(*output);
           });
         });
}

// libtorch's analysis tells the writers of a list, not those of what is in it.
void Roles::addWrittenByName(const Value* value, torch::jit::ValueSet& written) const {
  const bool has_writers = aliases_.hasWriters(value);
  if (has_writers) {
    written.insert(value);
  }
  if (isTensor(*value) || !holdsTensors(value->type())) {
    return;
  }
  if (constructs(*value->node()) && !has_writers) {
    for (const Value* input : value->node()->inputs()) {
      addWrittenByName(input, written);
    }
    return;
  }
  for (Value* operand : operands_) {
    if (aliases_.mayContainAlias(const_cast<Value*>(value), operand)) {
      written.insert(operand);
    }
  }
}

void Roles::addBlock(const Block& block) {
  for (const Node* node : block.nodes()) {
    for (const Block* inner : node->blocks()) {
      addBlock(*inner);
    }
    roles_[node] = roleFor(*node);
  }
}

Role Roles::of(const Node& node) const {
  const auto found = roles_.find(&node);
  return found == roles_.end() ? Role::kOpener : found->second;  // the parameters of a block are there from the start
}

Role Roles::roleFor(const Node& node) const {
  if (node.kind() == prim::Constant) {
    return Role::kConstant;
  }
  if (!node.blocks().empty()) {
    return Role::kControl;
  }
  if (isOpener(node)) {
    return Role::kOpener;
  }
  return isCarried(node) ? Role::kCarried : Role::kWork;
}

// True if the order of this node and a writer of its operands or results matters.
bool Roles::isWritten(const Node& node) const {
  return aliases_.hasInputWriters(&node) || aliases_.hasOutputWriters(&node);
}

bool Roles::isOpener(const Node& node) const {
  if (!takesApart(node) || isWritten(node)) {
    return false;
  }
  const Node& producer = *node.input(0)->node();
  const bool is_argument = producer.kind() == prim::Param && producer.owningBlock()->owningNode() == nullptr;
  const auto role = roles_.find(&producer);
  return is_argument || (role != roles_.end() && role->second == Role::kOpener);
}

bool Roles::isCarried(const Node& node) const {
  const auto is_carried = [this](const Value& value) {
    const auto role = roles_.find(value.node());
    return role != roles_.end() && (role->second == Role::kCarried || role->second == Role::kConstant);
  };
  const auto* schema = node.maybeSchema();
  const bool is_pure = (schema ? !schema->is_mutable() : constructs(node) || takesApart(node)) &&
                       !node.hasSideEffects() && !node.isNondeterministic() && !node.outputs().empty();
  if (!is_pure) {
    return false;
  }
  if (isOneOf(node, questions())) {
    return !shapes_are_written_ && (isTensor(*node.input(0)) || !isWritten(node));
  }
  if (isWritten(node)) {
    // A tuple of tensors holds the same ones before and behind a write to them.
    return node.kind() == prim::TupleConstruct &&
           allTensorInputs(node, [](const Value& input) { return isTensor(input); });
  }
  if (constructs(node)) {
    return true;
  }
  if (takesApart(node)) {
    return is_carried(*node.input(0));
  }
  const bool gives_tensors = std::any_of(node.outputs().begin(), node.outputs().end(),
                                         [](const Value* output) { return holdsTensors(output->type()); });
  if (!gives_tensors && allTensorInputs(node, [](const Value&) { return false; })) {
    return true;
  }
  if (!isOneOf(node, numberArithmetic()) && !isOneOf(node, numberReaders())) {
    return false;
  }
  // Numbers that traces keep in tensors, as far as those come from shapes.
  const auto is_number = [&](const Value& value) {
    return is_carried(value) && (value.node()->kind() != prim::Constant || isNumber(value));
  };
  return allTensorInputs(node, is_number) &&
         std::any_of(node.inputs().begin(), node.inputs().end(),
                     [&](const Value* input) { return input->node()->kind() != prim::Constant && is_carried(*input); });
}

void Roles::addNeeds(Value* value, std::vector<Value*>& needs) const {
  switch (of(*value->node())) {
    case Role::kConstant:
      return;
    case Role::kCarried:
      for (Value* need : needsOf(*value->node())) {
        addOnce(need, needs);
      }
      return;
    default:
      addOnce(value, needs);
  }
}

const std::vector<Value*>& Roles::needsOf(const Node& node) const {
  const auto [entry, is_new] = needs_.try_emplace(&node);
  if (!is_new) {
    return entry->second;
  }
  std::vector<Value*> needs;
  for (Value* input : const_cast<Node&>(node).inputs()) {
    addNeeds(input, needs);
  }
  for (const Block* block : node.blocks()) {
    const auto add_outer = [&](const std::vector<Value*>& inner_needs) {
      for (Value* value : inner_needs) {
        if (!lowering::isInside(*value->node(), node)) {
          addOnce(value, needs);
        }
      }
    };
    for (const Node* inner : block->nodes()) {
      add_outer(std::vector<Value*>(needsOf(*inner)));
    }
    std::vector<Value*> returned;
    for (Value* output : const_cast<Block*>(block)->outputs()) {
      addNeeds(output, returned);
    }
    add_outer(returned);
  }
  return needs_[&node] = std::move(needs);
}

}  // namespace torchtrt::partitioning
