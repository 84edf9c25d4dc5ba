#include "stitching/original_unit.h"

#include <algorithm>

#include <torch/csrc/jit/api/function_impl.h>

namespace torchtrt::stitching {

namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

class Names {
 public:
  explicit Names(const c10::Type& own) : own_(own) {}

  // True if a type is or holds a function, or a class with methods other than the module's own.
  bool in(const c10::Type& type) const {
    if (const auto* named = type.castRaw<c10::ClassType>()) {
      return named != &own_ && named->compilation_unit() != nullptr;  // which custom classes of C++ have not
    }
    const auto inner = type.containedTypes();
    return type.kind() == c10::TypeKind::FunctionType ||
           std::any_of(inner.begin(), inner.end(), [this](const c10::TypePtr& each) { return in(*each); });
  }

  bool in(const Block& block) const {
    const auto in_value = [this](const Value* value) { return in(*value->type()); };
    return std::any_of(block.inputs().begin(), block.inputs().end(), in_value) ||
           std::any_of(block.nodes().begin(), block.nodes().end(), [&](const Node* node) {
             return std::any_of(node->outputs().begin(), node->outputs().end(), in_value) || inAttributes(*node) ||
                    std::any_of(node->blocks().begin(), node->blocks().end(),
                                [this](const Block* inner) { return in(*inner); });
           });
  }

 private:
  // Types that are asked for, as isinstance does, and graphs that are forked.
  bool inAttributes(const Node& node) const {
    const auto names = node.attributeNames();
    return std::any_of(names.begin(), names.end(), [&](c10::Symbol name) {
      switch (node.kindOf(name)) {
        case torch::jit::AttributeKind::ty:
          return in(*node.ty(name));
        case torch::jit::AttributeKind::tys: {
          const auto& types = node.tys(name);
          return std::any_of(types.begin(), types.end(), [this](const c10::TypePtr& each) { return in(*each); });
        }
        case torch::jit::AttributeKind::g:
          return in(*node.g(name)->block());
        default:
          return false;
      }
    });
  }

  const c10::Type& own_;
};

bool usesUnit(const c10::ClassType& type) {
  const Names names(type);
  const auto attributes = type.containedTypes();
  const auto& methods = type.methods();
  return std::any_of(attributes.begin(), attributes.end(), [&](const c10::TypePtr& each) { return names.in(*each); }) ||
         std::any_of(methods.begin(), methods.end(), [&](torch::jit::Function* method) {
           return names.in(*torch::jit::toGraphFunction(*method).graph()->block());
         });
}

}  // namespace

void keepUnitInUse(const torch::jit::Module& original, const torch::jit::Module& module) {
  if (!usesUnit(*module.type())) {
    return;
  }
  // A unit owns its classes, a class its constants, and an object the unit of its class. Nothing uses the class, so it
  // is not saved: loading makes one unit of all that is.
  const auto unit = module._ivalue()->compilation_unit();
  const c10::QualifiedName name(module.type()->name()->qualifiedName() + "_original");
  const auto keeper = c10::ClassType::create(name, unit);
  keeper->addConstant("unit", c10::ivalue::Object::create(
                                  c10::StrongTypePtr(original._ivalue()->compilation_unit(), original.type()), 0));
  unit->register_type(keeper);
}

}  // namespace torchtrt::stitching
