#include "partitioning/collections.h"

#include <algorithm>

namespace torchtrt::partitioning {

namespace {

bool isCollection(const torch::jit::Value& value) {
  const c10::TypePtr& type = value.type();
  return type->cast<c10::TupleType>() || type->cast<c10::ListType>();
}

bool isOpener(const torch::jit::Node& node) {
  static const auto kGetItem = c10::Symbol::fromQualString("aten::__getitem__");
  switch (node.kind()) {
    case torch::jit::prim::TupleUnpack:
    case torch::jit::prim::ListUnpack:
      return true;
    case torch::jit::prim::TupleIndex:
      return node.input(1)->node()->kind() == torch::jit::prim::Constant;
    default:
      return node.kind() == kGetItem && node.inputs().size() == 2 &&
             node.input(1)->node()->kind() == torch::jit::prim::Constant;
  }
}

bool isBuilder(const torch::jit::Node& node) {
  switch (node.kind()) {
    case torch::jit::prim::TupleConstruct:
    case torch::jit::prim::ListConstruct:
    case torch::jit::prim::DictConstruct:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool opensInput(const torch::jit::Node& node) {
  if (!isOpener(node) || !isCollection(*node.input(0))) {
    return false;
  }
  const torch::jit::Node& producer = *node.input(0)->node();
  return producer.kind() == torch::jit::prim::Param || opensInput(producer);
}

bool buildsOutput(const torch::jit::Node& node) {
  if (!isBuilder(node) || node.output()->uses().empty()) {
    return false;
  }
  const auto& uses = node.output()->uses();
  return std::all_of(uses.begin(), uses.end(), [](const torch::jit::Use& use) {
    return use.user->kind() == torch::jit::prim::Return || buildsOutput(*use.user);
  });
}

}  // namespace torchtrt::partitioning
