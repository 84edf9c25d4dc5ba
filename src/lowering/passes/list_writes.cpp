#include "lowering/passes/list_writes.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace torchtrt::lowering {
namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;

std::optional<int64_t> constantInt(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isInt() ? std::optional(constant->toInt()) : std::nullopt;
}

}  // namespace

ListWrite writeOf(const Node& node, const Value* list) {
  static const std::map<std::string, ListWrite> writes = {
      {"aten::append", ListWrite::kAppend}, {"aten::extend", ListWrite::kExtend},
      {"aten::add_", ListWrite::kExtend},   {"aten::_set_item", ListWrite::kSetItem},
      {"aten::insert", ListWrite::kInsert}, {"aten::pop", ListWrite::kPop},
      {"aten::clear", ListWrite::kClear}};
  const auto found = writes.find(node.kind().toQualString());
  return found == writes.end() || node.inputs().empty() || node.input(0) != list ? ListWrite::kNone : found->second;
}

bool writesWithin(const Block& block, const Value* list) {
  return std::any_of(block.nodes().begin(), block.nodes().end(), [&](const Node* node) {
    return writeOf(*node, list) != ListWrite::kNone ||
           std::any_of(node->blocks().begin(), node->blocks().end(),
                       [&](const Block* inner) { return writesWithin(*inner, list); });
  });
}

bool isListWritten(const Value* list) {
  return std::any_of(list->uses().begin(), list->uses().end(),
                     [&](const Use& use) { return use.offset == 0 && writeOf(*use.user, list) != ListWrite::kNone; });
}

bool onlyReadsList(const Node& node) {
  return node.kind().is_aten() || node.kind() == prim::ListUnpack;
}

bool makesList(const Node& node) {
  static const std::set<std::string> kinds = {"aten::copy", "aten::list", "aten::add", "aten::slice", "aten::mul"};
  const bool is_list = node.outputs().size() == 1 && node.output()->type()->kind() == c10::TypeKind::ListType;
  return is_list && (node.kind() == prim::ListConstruct || kinds.count(node.kind().toQualString()) != 0);
}

bool givesItsOperand(const Node& node) {
  return node.outputs().size() == 1 &&
         writeOf(node, node.inputs().empty() ? nullptr : node.input(0)) != ListWrite::kNone &&
         node.kind() != c10::Symbol::fromQualString("aten::pop") &&
         node.input(0)->type()->kind() == c10::TypeKind::ListType;
}

std::optional<size_t> placeIn(const Node& node, size_t length) {
  const auto index = constantInt(node.input(1));
  const int64_t count = static_cast<int64_t>(length);
  if (!index || *index < -count || *index >= count) {
    return std::nullopt;
  }
  return static_cast<size_t>(*index < 0 ? *index + count : *index);
}

void applyWrite(Node& node, std::vector<Value*>& elements) {
  const auto at = [&] { return elements.begin() + static_cast<std::ptrdiff_t>(*placeIn(node, elements.size())); };
  switch (writeOf(node, node.input(0))) {
    case ListWrite::kAppend:
      elements.push_back(node.input(1));
      break;
    case ListWrite::kSetItem:
      *at() = node.input(2);
      break;
    case ListWrite::kInsert:
      elements.insert(at(), node.input(2));
      break;
    case ListWrite::kPop: {
      const auto popped = at();
      node.output()->replaceAllUsesWith(*popped);
      elements.erase(popped);
      break;
    }
    case ListWrite::kClear:
      elements.clear();
      break;
    case ListWrite::kExtend:
    case ListWrite::kNone:
      break;
  }
}

}  // namespace torchtrt::lowering
