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

void addCallees(const c10::ClassType& type, const torch::jit::Function& caller, std::set<std::string>& names);

// Methods of the same class that the block calls, and what those call.
void addCallees(const c10::ClassType& type, const torch::jit::Block& block, std::set<std::string>& names) {
  for (const torch::jit::Node* node : block.nodes()) {
    for (const torch::jit::Block* inner : node->blocks()) {
      addCallees(type, *inner, names);
    }
    const bool is_own = node->kind() == torch::jit::prim::CallMethod && *node->input(0)->type() == type;
    if (is_own && names.insert(node->s(torch::jit::attr::name)).second) {
      addCallees(type, type.getMethod(node->s(torch::jit::attr::name)), names);
    }
    if (node->kind() == torch::jit::prim::fork) {
      addCallees(type, *node->g(torch::jit::attr::Subgraph)->block(), names);
    }
  }
}

void addCallees(const c10::ClassType& type, const torch::jit::Function& caller, std::set<std::string>& names) {
  if (const auto* function = torch::jit::tryToGraphFunction(const_cast<torch::jit::Function&>(caller))) {
    addCallees(type, *function->graph()->block(), names);
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

std::vector<torch::jit::Function*> carriedFunctions(const c10::ClassType& type, const std::string& compiled,
                                                    bool keep_methods) {
  std::set<std::string> inside;  // of the compiled method
  if (const torch::jit::Function* method = type.findMethod(compiled)) {
    addCallees(type, *method, inside);
  }
  std::set<std::string> kept;
  for (const torch::jit::Function* method : type.methods()) {
    const bool is_part = inside.count(method->name()) != 0 && method->name().rfind('_', 0) == 0;
    if (keep_methods && !is_part && method->name() != compiled) {
      kept.insert(method->name());
      addCallees(type, *method, kept);
    }
  }
  std::vector<torch::jit::Function*> hooks;
  for (const auto* list : {&type.getForwardPreHooks(), &type.getForwardHooks()}) {
    hooks.insert(hooks.end(), list->begin(), list->end());
  }
  for (const torch::jit::Function* hook : hooks) {
    addCallees(type, *hook, kept);
  }
  std::vector<torch::jit::Function*> functions;
  for (torch::jit::Function* method : type.methods()) {
    if (method->name() != compiled && kept.count(method->name()) != 0) {
      functions.push_back(method);
    }
  }
  functions.insert(functions.end(), hooks.begin(), hooks.end());
  return functions;
}

void carryMethods(const torch::jit::Module& original, const std::string& compiled, bool keep_methods,
                  torch::jit::Module& module) {
  const c10::ClassType& type = *original.type();
  const auto as_new = [&](const c10::TypePtr& each) -> c10::TypePtr {
    return each == original.type() ? c10::TypePtr(module.type()) : each;
  };
  const auto isOneOf = [](const std::vector<torch::jit::Function*>& hooks, const torch::jit::Function* function) {
    return std::find(hooks.begin(), hooks.end(), function) != hooks.end();
  };
  for (torch::jit::Function* function : carriedFunctions(type, compiled, keep_methods)) {
    const std::shared_ptr<Graph> graph = torch::jit::toGraphFunction(*function).graph()->copy();
    graph->remapTypes(as_new);
    const c10::QualifiedName name(*module.type()->name(), function->name());
    torch::jit::Function* copy = module._ivalue()->compilation_unit()->create_function(name, graph);
    if (isOneOf(type.getForwardPreHooks(), function)) {
      module.type()->addForwardPreHook(copy);
    } else if (isOneOf(type.getForwardHooks(), function)) {
      module.type()->addForwardHook(copy);
    } else {
      module.type()->addMethod(copy);
    }
    copy->setSchema(function->getSchema().cloneWithRemappedTypes(as_new));
  }
}

}  // namespace torchtrt::stitching
