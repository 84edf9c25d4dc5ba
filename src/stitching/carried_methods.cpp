#include "stitching/carried_methods.h"

#include <algorithm>

#include <torch/csrc/jit/api/function_impl.h>

namespace torchtrt::stitching {

namespace {

using torch::jit::Graph;
using torch::jit::Value;

bool isPlain(const c10::Type& type) {
  switch (type.kind()) {
    case c10::TypeKind::BoolType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::StringType:
    case c10::TypeKind::NoneType:
      return true;
    case c10::TypeKind::ListType:
    case c10::TypeKind::TupleType:
    case c10::TypeKind::DictType:
    case c10::TypeKind::OptionalType: {
      const auto inner = type.containedTypes();
      return std::all_of(inner.begin(), inner.end(), [](const c10::TypePtr& each) { return isPlain(*each); });
    }
    default:
      return false;
  }
}

}  // namespace

std::optional<std::set<std::string>> attributesUsed(const Value& self) {
  std::set<std::string> names;
  for (const torch::jit::Use& use : self.uses()) {
    const auto kind = use.user->kind();
    if (kind == torch::jit::prim::GetAttr || (kind == torch::jit::prim::SetAttr && use.offset == 0)) {
      names.insert(use.user->s(torch::jit::attr::name));
    } else if (kind != torch::jit::prim::CallMethod || use.offset != 0) {
      return std::nullopt;
    }
  }
  return names;
}

void carryAttributes(const torch::jit::Module& original, const std::optional<std::set<std::string>>& used,
                     torch::jit::Module& module) {
  const c10::ClassType& type = *original.type();
  for (size_t i = 0; i < type.numAttributes(); ++i) {
    const std::string& name = type.getAttributeName(i);
    const c10::IValue& value = original._ivalue()->getSlot(i);
    const bool is_used = !used || used->count(name) != 0;
    if (is_used || isPlain(*type.getAttribute(i))) {
      module.register_attribute(name, type.getAttribute(i), is_used ? value : value.deepcopy(), type.is_parameter(i),
                                type.is_buffer(i));
    }
  }
  for (size_t i = 0; i < type.numConstants(); ++i) {
    module.type()->addConstant(type.getConstantName(i), type.getConstant(i));
  }
}

void carryMethods(const torch::jit::Module& original, const std::string& compiled, torch::jit::Module& module) {
  const auto as_new = [&](const c10::TypePtr& type) -> c10::TypePtr {
    return type == original.type() ? c10::TypePtr(module.type()) : type;
  };
  for (torch::jit::Function* method : original.type()->methods()) {
    if (method->name() == compiled) {
      continue;
    }
    const std::shared_ptr<Graph> graph = torch::jit::toGraphFunction(*method).graph()->copy();
    graph->remapTypes(as_new);
    const c10::QualifiedName name(*module.type()->name(), method->name());
    torch::jit::Function* copy = module._ivalue()->compilation_unit()->create_function(name, graph);
    module.type()->addMethod(copy);
    copy->setSchema(method->getSchema().cloneWithRemappedTypes(as_new));
  }
}

}  // namespace torchtrt::stitching
