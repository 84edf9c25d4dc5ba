#include "compiler/module/module_state.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace torchtrt::compiler {

namespace {

using torch::jit::IValue;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
namespace prim = torch::jit::prim;
namespace aten = torch::jit::aten;

const std::string& attributeOf(const Node& node) {
  return node.s(torch::jit::attr::name);
}

bool onlyWarns(const Node& branch) {
  return branch.kind() == prim::If && branch.outputs().empty() &&
         std::all_of(branch.blocks().begin(), branch.blocks().end(), [](const torch::jit::Block* block) {
           return std::all_of(block->nodes().begin(), block->nodes().end(), [](const Node* node) {
             return node->kind() == prim::Constant || node->kind() == aten::warn || node->kind() == prim::SetAttr;
           });
         });
}

bool decidesOnWarnings(const Value& value) {
  return std::all_of(value.uses().begin(), value.uses().end(), [](const Use& use) {
    return onlyWarns(*use.user) || (use.user->kind() == aten::__not__ && decidesOnWarnings(*use.user->output()));
  });
}

// Modules, objects of classes and of interfaces, also in collections.
bool holdsObjects(const c10::Type& type) {
  return type.kind() == c10::TypeKind::ClassType || type.kind() == c10::TypeKind::InterfaceType ||
         std::any_of(type.containedTypes().begin(), type.containedTypes().end(),
                     [](const c10::TypePtr& contained) { return holdsObjects(*contained); });
}

// The graph's accesses to a module, or to one that it holds.
struct Accesses {
  std::set<std::string> written;  // attributes
  std::vector<const Node*> reads;
  bool is_passed_on = false;  // to what may do anything with it

  void add(const Value& module) {
    for (const Use& use : module.uses()) {
      if (use.user->kind() == prim::SetAttr && use.offset == 0) {
        written.insert(attributeOf(*use.user));
      } else if (use.user->kind() == prim::GetAttr) {
        reads.push_back(use.user);
        if (holdsObjects(*use.user->output()->type())) {
          add(*use.user->output());
        }
      } else {
        is_passed_on = true;
      }
    }
  }
};

class StateText {
 public:
  void add(const IValue& value) {
    if (value.isTensor()) {
      addTensor(value.toTensor());
    } else if (value.isObject()) {
      const auto object = value.toObject();
      addEach("{", object->slots());
    } else if (value.isTuple()) {
      addEach("(", value.toTupleRef().elements());
    } else if (value.isList()) {
      addEach("[", value.toListRef());
    } else if (value.isGenericDict()) {
      text_ << "<";
      for (const auto& entry : value.toGenericDict()) {
        add(entry.key());
        add(entry.value());
      }
    } else if (value.isInt() || value.isBool() || value.isString() || value.isNone()) {
      text_ << value << ";";
    } else {
      text_ << value.tagKind() << ";";
    }
  }

  std::string take() const {
    return text_.str();
  }

 private:
  void addTensor(const at::Tensor& tensor) {
    if (tensor.defined()) {
      text_ << tensor.scalar_type() << tensor.sizes();
    }
    text_ << ";";
  }

  template <typename Values>
  void addEach(const char* bracket, const Values& values) {
    text_ << bracket << values.size() << ":";
    for (const IValue& value : values) {
      add(value);
    }
  }

  std::ostringstream text_;
};

}  // namespace

std::string stateOf(const IValue& module) {
  StateText text;
  text.add(module);
  return text.take();
}

bool callsLeaveState(const lowering::LoweredGraph& lowered, const partitioning::Roles& roles) {
  if (!lowered.has_self) {
    return false;
  }
  Accesses accesses;
  accesses.add(*lowered.graph->inputs().front());
  return accesses.is_passed_on || std::any_of(accesses.reads.begin(), accesses.reads.end(), [&](const Node* read) {
           torch::jit::ValueSet changed_in_place;
           roles.addWritten(read->output(), changed_in_place);
           return !changed_in_place.empty() ||
                  (accesses.written.count(attributeOf(*read)) != 0 && !decidesOnWarnings(*read->output()));
         });
}

}  // namespace torchtrt::compiler
